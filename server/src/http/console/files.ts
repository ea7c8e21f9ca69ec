/** The built console on disk. Files whose name changes with their content are read once. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface ConsoleFile {
  readonly bytes: Buffer
  readonly contentType: string
  readonly encoding: 'br' | 'gzip' | undefined
  readonly cacheControl: string
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** The only files that are served: not the manifest, and no path that leads out of the folder. */
const SERVED = /^\/(assets\/[\w.-]+|theme|frame|mark)\.(css|js|svg|woff2)$/

const ENCODINGS = [
  ['br', 'br'],
  ['gzip', 'gz'],
] as const

/** The name of a hashed file changes with its content. */
const FOR_EVER = 'public, max-age=31536000, immutable'
const ASK_AGAIN = 'no-cache'

export class ConsoleFiles {
  readonly #folder: string
  readonly #basePath: string
  /** By path and encoding. Missing paths are not cached, so there are no more entries than files. */
  readonly #files = new Map<string, ConsoleFile>()

  /** `basePath` has a slash at both ends. */
  constructor(folder: string, basePath: string) {
    this.#folder = folder
    this.#basePath = basePath
  }

  /** The console's page; undefined if the console was not built. It is read each time, since it may be rebuilt while the node runs. */
  async index(): Promise<string | undefined> {
    const bytes = await this.#read('index.html')
    // Every address in it begins with `./`: vite builds the console with relative addresses.
    return bytes?.toString('utf8').replaceAll('"./', `"${this.#basePath}`)
  }

  /** Undefined if the path is no file of the console. */
  async file(path: string, accepted: string): Promise<ConsoleFile | undefined> {
    const [, name, extension = ''] = SERVED.exec(path) ?? []
    if (name === undefined) return undefined
    for (const [encoding, suffix] of ENCODINGS) {
      if (!accepted.includes(encoding)) continue
      const file = await this.#file(`${name}.${extension}`, `.${suffix}`, extension, encoding)
      if (file !== undefined) return file
    }
    return this.#file(`${name}.${extension}`, '', extension, undefined)
  }

  async #file(
    name: string,
    suffix: string,
    extension: string,
    encoding: ConsoleFile['encoding'],
  ): Promise<ConsoleFile | undefined> {
    const known = this.#files.get(name + suffix)
    if (known !== undefined) return known
    const bytes = await this.#read(name + suffix)
    if (bytes === undefined) return undefined
    const file: ConsoleFile = {
      bytes,
      contentType: TYPES[extension] ?? 'application/octet-stream',
      encoding,
      cacheControl: name.startsWith('assets/') ? FOR_EVER : ASK_AGAIN,
    }
    // The other names keep their content only until the next build.
    if (file.cacheControl === FOR_EVER) this.#files.set(name + suffix, file)
    return file
  }

  async #read(name: string): Promise<Buffer | undefined> {
    try {
      return await readFile(join(this.#folder, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}
