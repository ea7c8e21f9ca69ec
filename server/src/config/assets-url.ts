/** `ASSETS_URL`: where images are kept. */
import { fileURLToPath } from 'node:url'
import { didYouMean } from './file/problem.ts'

export type AssetsLocation =
  /** The folder may be relative. */
  | { readonly kind: 'file'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** Without a slash at its ends; empty: none. */
      readonly prefix: string
      readonly region: string
      /** Undefined: AWS itself. */
      readonly endpoint: string | undefined
    }

const EXAMPLES = 'file:./pictures, file:///var/lib/torana/pictures or s3://bucket/folder?region=eu-central-1'
const OPTIONS = ['region', 'endpoint']
/** Default region of servers other than AWS: few check it, and most use this name. */
const REGION_OF_OTHERS = 'us-east-1'

/** Throws an `Error` with the problem. The message repeats no credentials of the URL. */
export function parseAssetsUrl(text: string): AssetsLocation {
  const scheme = /^([a-z0-9]+):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'file') return { kind: 'file', folder: folderOf(text) }
  if (scheme === 's3') return bucketOf(text)
  throw new Error(`expected ${EXAMPLES}${scheme === undefined ? '' : `, and ${scheme}: is none of them`}`)
}

function folderOf(text: string): string {
  const rest = text.slice('file:'.length)
  if (/[?#]/.test(rest)) throw new Error('a file: URL has no ? and no #; write them as %3F and %23')
  if (!rest.startsWith('/')) {
    const folder = decoded(rest)
    if (folder === '') throw new Error('names no folder: try file:./pictures')
    return folder
  }
  const url = URL.parse(text)
  if (url === null || url.host !== '')
    throw new Error(
      'a file: URL has no host: two slashes begin one. Try file:./folder, or three slashes, file:///folder',
    )
  if (url.pathname === '/')
    throw new Error('the root folder belongs to the whole machine: name a folder below it')
  try {
    return fileURLToPath(url)
  } catch {
    throw new Error('is no path: is there a % that should be %25?')
  }
}

function bucketOf(text: string): AssetsLocation {
  const url = URL.parse(text)
  if (url === null || url.host === '') throw new Error(`names no bucket: expected ${EXAMPLES}`)
  if (url.username !== '' || url.password !== '')
    throw new Error('holds credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead')
  if (url.port !== '' || url.hash !== '')
    throw new Error('an s3: URL names a bucket, not a server: write the server as ?endpoint=https://…')
  const bucket = url.hostname
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new Error(`"${bucket}" can't be a bucket: 3 to 63 of a-z, 0-9, dot and hyphen`)
  const prefix = decoded(url.pathname).replaceAll(/^\/+|\/+$/g, '')
  const isPath =
    prefix === '' || prefix.split('/').every((part) => /^[\w.-]+$/.test(part) && !/^\.{1,2}$/.test(part))
  if (!isPath)
    throw new Error(`"${prefix}" can't be a folder: segments of A-Z, a-z, 0-9, dot, _ and - parted by /`)
  const { region, endpoint } = optionsOf(url.searchParams)
  if (region === undefined && endpoint === undefined)
    throw new Error(
      'names no region: add ?region=eu-central-1, or ?endpoint=https://… for a server other than AWS',
    )
  return { kind: 's3', bucket, prefix, region: region ?? REGION_OF_OTHERS, endpoint }
}

function optionsOf(parameters: URLSearchParams): {
  readonly region: string | undefined
  readonly endpoint: string | undefined
} {
  for (const name of new Set(parameters.keys())) {
    if (!OPTIONS.includes(name))
      throw new Error(`has no option "${name}".${didYouMean(name, OPTIONS)} There are region and endpoint`)
    if (parameters.getAll(name).length > 1) throw new Error(`names ${name} twice`)
  }
  const region = parameters.get('region') || undefined
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) throw new Error(`"${region}" can't be a region`)
  const endpoint = parameters.get('endpoint') || undefined
  if (endpoint === undefined) return { region, endpoint }
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('endpoint must begin with https:// or http://')
  if (url.username !== '' || url.password !== '')
    throw new Error('endpoint holds credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead')
  if (url.search !== '' || url.hash !== '')
    throw new Error('endpoint has a ? or # of its own: it is the address of a server alone')
  return { region, endpoint: url.href.replace(/\/+$/, '') }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('is no path: is there a % that should be %25?')
  }
}
