/** Files of certificates, and their problems. */
import type { TlsSettings } from '#core/settings.ts'
import { readText, reasonOf, type ReadFile } from './variable.ts'

export interface TlsTexts {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

/** Throws the system's error with the path of the file that can't be read. */
export function readTls(
  { certFile, keyFile, clientCaFile }: TlsSettings,
  readFile: ReadFile = readText,
): TlsTexts {
  const ca = clientCaFile === undefined ? {} : { ca: readFile(clientCaFile) }
  return { cert: readFile(certFile), key: readFile(keyFile), ...ca }
}

/** Never the content of a file: OpenSSL names only the problem. */
export function tlsProblem(error: unknown): string {
  const { path, message } = error as { path?: string; message: string }
  if (path !== undefined) return `${path} can't be read (${reasonOf(error)})`
  if (/key values mismatch/i.test(message)) return 'the key is not the one of the certificate'
  return message
}
