//! False greens that were seen with real tools.
