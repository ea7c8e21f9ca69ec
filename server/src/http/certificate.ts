/** The certificate of both ports: its validity, and its replacement when its files change. */
import { X509Certificate } from 'node:crypto'
import type { Validity } from '#core/node/certificate-validity.ts'
import type { TlsCertificate } from './listener.ts'

export interface CertificateParts {
  readonly shown: TlsCertificate
  /** Reads the files. Throws when they can't be read. */
  readonly read: () => TlsCertificate
  /** Shows another certificate from now on. Throws when it can't be used; then the earlier one stays. */
  readonly use: (certificate: TlsCertificate) => void
  /** What an error of `read` or `use` means, in words for people. */
  readonly problemOf: (error: unknown) => string
  readonly onUsed: () => void
  readonly onProblem: (problem: string) => void
}

/**
 * Returns a check whether the files have changed. It compares content, not times: a mounted secret changes by swapping a symbolic
 * link. Certificate and key are two files, which for a moment may not belong together: then the earlier certificate stays, and
 * the next check sees both. The same problem is reported once.
 */
export function certificateCheck(parts: CertificateParts): () => void {
  const { read, use, problemOf, onUsed, onProblem } = parts
  let last = textOf(parts.shown)
  const isNew = (text: string): boolean => {
    if (text === last) return false
    last = text
    return true
  }
  return () => {
    let found: TlsCertificate
    try {
      found = read()
    } catch (error) {
      const problem = problemOf(error)
      if (isNew(problem)) onProblem(problem)
      return
    }
    if (!isNew(textOf(found))) return
    try {
      use(found)
    } catch (error) {
      onProblem(problemOf(error))
      return
    }
    onUsed()
  }
}

function textOf({ cert, key, ca }: TlsCertificate): string {
  return [cert, key, ca].join('\0')
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** When the certificate is valid; of a chain, the certificate that ends first. Undefined: there is none. */
export function validityOf(shown: Pick<TlsCertificate, 'cert'> | undefined): Validity | undefined {
  const chain = (shown?.cert.match(PEM) ?? []).map((pem) => new X509Certificate(pem))
  const [first] = chain
    .map(({ validFromDate, validToDate }) => ({
      beginsAtMs: validFromDate.getTime(),
      endsAtMs: validToDate.getTime(),
    }))
    .sort((a, b) => a.endsAtMs - b.endsAtMs)
  return first
}
