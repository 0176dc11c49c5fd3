"""What a snap needn't ship, as filters for its snapcraft.yaml."""
