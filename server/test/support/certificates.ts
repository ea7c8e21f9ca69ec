/** Certificates made by openssl, as an operator would make them. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: string
  readonly key: string
}

export interface Authority extends Certificate {
  /** For 127.0.0.1 and localhost. */
  issue(name: string): Certificate
}

export function makeAuthority(folder: string, name = 'authority'): Authority {
  const subject = (of: string): string[] => ['-subj', `/CN=${of}`]
  const key = (of: string): string[] => {
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    return [...kind, '-keyout', join(folder, `${of}.key`), '-out', join(folder, `${of}.pem`)]
  }
  openssl(['req', '-x509', '-days', '2', ...key(name), ...subject(name)])
  const own = certificateIn(folder, name)
  return {
    ...own,
    issue(of) {
      const signed = ['-CA', own.certFile, '-CAkey', own.keyFile, '-days', '2']
      const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
      openssl([
        'req',
        '-x509',
        ...signed,
        ...key(of),
        ...subject(of),
        ...names,
        '-addext',
        'basicConstraints=CA:FALSE',
      ])
      return certificateIn(folder, of)
    },
  }
}

function certificateIn(folder: string, name: string): Certificate {
  const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}

/** Signed by itself, and valid from and to these moments. */
export function makeDatedCertificate(
  folder: string,
  name: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Certificate {
  const file = (ending: string): string => join(folder, `${name}.${ending}`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(['req', '-new', ...key, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${name}`])
  // `openssl ca` is the one command that takes both dates, and it wants an index file.
  writeFileSync(file('index'), '')
  const lines = [
    '[ca]',
    'default_ca = own',
    '[own]',
    `database = ${file('index')}`,
    `new_certs_dir = ${folder}`,
    'rand_serial = yes',
    'default_md = sha256',
    'policy = any',
    '[any]',
    'commonName = supplied',
    '',
  ]
  writeFileSync(file('cnf'), lines.join('\n'))
  const dates = ['-startdate', opensslTime(fromMs), '-enddate', opensslTime(toMs)]
  const files = ['-in', file('csr'), '-keyfile', file('key'), '-out', file('pem')]
  openssl(['ca', '-batch', '-notext', '-selfsign', '-config', file('cnf'), ...dates, ...files])
  return certificateIn(folder, name)
}

/** `20261231235959Z`. */
function opensslTime(unixMs: number): string {
  return `${new Date(unixMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
}
