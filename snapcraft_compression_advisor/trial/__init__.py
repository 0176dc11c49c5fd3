"""What each codec makes of a payload: sizes of images and of data blocks."""
