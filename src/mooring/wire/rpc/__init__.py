"""JSON-RPC between two peers: frames go in; requests, replies and notifications come out. Either side can use it."""
