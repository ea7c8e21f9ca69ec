import { readFileSync } from 'node:fs'

/** Named as PostgreSQL names them in its URLs. */
const FILES = [
  ['sslrootcert', 'ca'],
  ['sslcert', 'cert'],
  ['sslkey', 'key'],
] as const

interface RedisCertificates {
  readonly tls: true
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Takes the certificate files out of a `rediss:` URL and reads them: with each connection, so that renewed files are used. */
export function certificatesIn(given: string): {
  readonly url: string
  readonly tls: RedisCertificates | undefined
} {
  const url = new URL(given)
  if (url.protocol !== 'rediss:') return { url: given, tls: undefined }
  const texts = FILES.flatMap(([name, field]) => {
    const file = url.searchParams.get(name)
    url.searchParams.delete(name)
    return file === null ? [] : [[field, readFileSync(file, 'utf8')]]
  })
  return { url: url.href, tls: { tls: true, ...(Object.fromEntries(texts) as object) } }
}
