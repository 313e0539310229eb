"""Oracles that are HTTPS services: sessions, calls and state over the protocol `bfcl-oracle-http-v1`.

    client        `EndpointOracle`, which starts episodes: a session is an episode
    conversation  the routes of the protocol, and which answers each may have
    identity      whether the service is the one that the pack pins
    service       one request and its answer, as JSON, within the sizes that the pack allows
    transport     one connection: HTTP over TLS, each exchange within a deadline
    tls           which certificates are trusted, and sockets that keep deadlines
    credentials   which secrets of the environment are sent, and who granted them
    exchange      what can go wrong

Nothing here is loaded for a pack whose oracle is a `backend.py`.
"""
