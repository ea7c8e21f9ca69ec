/** Where the console is served. The node writes its path into the page when it starts. */

const written =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name="torana-base"]')?.content ?? '/'

/** With a slash at both ends: `/`, `/console/`. */
export const BASE = written.startsWith('/') ? written : '/'
