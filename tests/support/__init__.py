"""What tests of several kinds build on."""
