// The public entry of the `oncemq` package: what applications may import, and nothing else.
//
// There is no server to start yet, so it exports nothing. `startServer(config)` will be the main
// export; everything under core, storage, api and server stays internal, whatever the file layout.

export {};
