/** The certificate of both ports, shown anew when its files change. */
import { X509Certificate } from 'node:crypto'
import { readTls, tlsProblem } from '#config/file/certificates.ts'
import type { TlsSettings } from '#core/settings.ts'
import type { TlsCertificate } from '#http/listener.ts'
import type { Validity } from '#core/certificate-validity.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { Listeners } from './listeners.ts'

/** Somebody who renews a certificate may wait so long; three small files are read in well below a millisecond. */
const LOOK_MS = 5000

/**
 * Content is compared, not times: a mounted secret changes by swapping a symbolic link. Certificate and key are two files, so
 * that for a moment they may not belong together: then the one before stays, and the next look sees both.
 */
export function watchCertificate(
  { settings, log, metrics }: Pick<Basics, 'settings' | 'log' | 'metrics'>,
  listeners: Pick<Listeners, 'certificate' | 'useCertificate'>,
  lookMs = LOOK_MS,
): AsyncDisposable {
  const { tls } = settings
  if (tls === undefined || listeners.certificate === undefined)
    return { [Symbol.asyncDispose]: async () => {} }
  metrics.node.readCertificate(() => validityOf(listeners.certificate))
  let seen = keyOf(listeners.certificate)
  const look = async (): Promise<void> => {
    const now = lookAt(tls)
    if (now.key === seen) return
    seen = now.key
    if ('problem' in now) {
      log.error(`${CERTIFICATE}: ${now.problem}; ${KEPT}`)
      return
    }
    try {
      listeners.useCertificate(now.texts)
      log.info({ file: tls.certFile }, 'the certificate was read again')
    } catch (error) {
      log.error(`${CERTIFICATE}: ${tlsProblem(error)}; ${KEPT}`)
    }
  }
  const looking = every(lookMs, look, (error) => log.error({ err: error }, `${CERTIFICATE}: ${KEPT}`))
  return { [Symbol.asyncDispose]: () => looking.stop() }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** When the certificate is valid; of a chain, the one that ends first. Undefined: there is none. */
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

const CERTIFICATE = 'TORANA_TLS_CERT'
const KEPT = 'the certificate before it stays in use'

type Look = { readonly key: string } & ({ readonly texts: TlsCertificate } | { readonly problem: string })

function keyOf({ cert, key, ca }: TlsCertificate): string {
  return [cert, key, ca].join('\0')
}

function lookAt(tls: TlsSettings): Look {
  try {
    const texts = readTls(tls)
    return { key: keyOf(texts), texts }
  } catch (error) {
    const problem = tlsProblem(error)
    return { key: problem, problem }
  }
}
