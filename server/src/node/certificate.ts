import { readTls, tlsProblem } from '#config/file/certificates.ts'
import { certificateCheck, validityOf } from '#http/certificate.ts'
import type { Listeners } from '#http/listeners.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'

/** Interval of checks for a renewed certificate. Three small files are read in well below a millisecond. */
const CHECK_MS = 5000

/** Follows the files of the certificate that both ports show. */
export function watchCertificate(
  { settings, log, metrics }: Pick<Basics, 'settings' | 'log' | 'metrics'>,
  listeners: Pick<Listeners, 'certificate' | 'useCertificate'>,
  checkMs = CHECK_MS,
): AsyncDisposable {
  const { tls } = settings
  const shown = listeners.certificate
  if (tls === undefined || shown === undefined) return { [Symbol.asyncDispose]: async () => {} }
  metrics.node.readCertificate(() => validityOf(listeners.certificate))
  const onProblem = (problem: string): void =>
    log.error(`TORANA_TLS_CERT: ${problem}; the certificate before it stays in use`)
  const check = certificateCheck({
    shown,
    read: () => readTls(tls),
    use: (certificate) => listeners.useCertificate(certificate),
    problemOf: tlsProblem,
    onUsed: () => log.info({ file: tls.certFile }, 'the certificate was read again'),
    onProblem,
  })
  const watching = every(
    checkMs,
    async () => check(),
    (error) => onProblem(tlsProblem(error)),
  )
  return { [Symbol.asyncDispose]: () => watching.stop() }
}
