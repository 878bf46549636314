"""What a backend that is another agent's program is given of Mooring: servers, the gate, and words for a turn."""
