import { join } from 'node:path'

/** Installed clients, logs and results; never in version control. */
export const cacheFolder: string = join(import.meta.dirname, '.cache')
/** The client programs as they are written. */
export const sourceFolder: string = join(import.meta.dirname, 'clients')
/** The cl100k_base ranks where Python's tiktoken looks for them before it asks the network. */
export const tiktokenFolder: string = join(cacheFolder, 'tiktoken')
