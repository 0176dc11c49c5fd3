"""Many snaps: what is known of each, as rows of one data set."""
