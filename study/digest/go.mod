module refresh-digest

go 1.18

require golang.org/x/crypto v0.23.0

require golang.org/x/sys v0.21.0 // indirect
