/** Opens the catalogue feed: the copy of a start, the one in force, and what the control API does with new ones. */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogRelease } from '#config/build/feed.ts'
import { factChanges } from '#config/build/feed-diff.ts'
import { ConfigError } from '#config/file/problem.ts'
import type { LoadedConfig } from '#config/load.ts'
import { canonicalText, invalid, MAX_FEED_BYTES, readEnvelope } from '#core/feed/document.ts'
import { effectsOf } from '#core/feed/effects.ts'
import { Fault } from '#core/fault/fault.ts'
import type { FeedWork } from '#ports/feed-work.ts'
import type { PictureFetcher } from '#ports/image-upstream.ts'
import { feedDigest, verifyFeed } from '#runtime/feed-signature.ts'
import { replaceFile } from '#stores/replace-file.ts'
import type { UsedFeed } from '#worker/catalog/feed.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'

/** In the data folder: a copy of the catalogue in force, for a start without the store. */
const FEED_COPY = 'catalog-feed.json'
/** Timeout of a download: some hundred kilobytes, from a mirror that may be slow. */
const DOWNLOAD_MS = 30_000

export function builtInFeed(): UsedFeed {
  return { sequence: catalogRelease().sequence, document: undefined }
}

/** The copy in the data folder. Undefined: there is none, or it is not readable. */
export function copiedFeed(dataDir: string): UsedFeed | undefined {
  try {
    const { sequence, document } = JSON.parse(readFileSync(join(dataDir, FEED_COPY), 'utf8')) as UsedFeed
    return typeof sequence === 'number' && typeof document === 'string' ? { sequence, document } : undefined
  } catch (error) {
    // What is wrong with the folder itself is reported when it is made.
    const { code = '' } = error as NodeJS.ErrnoException
    if (error instanceof SyntaxError || ['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return undefined
    throw error
  }
}

/** The copy of the one in force. The catalogue in the program needs none. */
export async function keepCopy(dataDir: string, { sequence, document }: UsedFeed): Promise<void> {
  const path = join(dataDir, FEED_COPY)
  if (document === undefined) return rm(path, { force: true })
  await replaceFile(path, (file) => file.writeFile(JSON.stringify({ sequence, document })))
}

export interface FeedWorkParts {
  readonly catalog: Pick<CatalogInForce, 'preview' | 'current'>
  readonly fetcher: PictureFetcher
  readonly used: () => UsedFeed
  /** The configuration in force. */
  readonly loaded: () => LoadedConfig
  /** Loads the configuration of this node with the facts of a document, and puts nothing in force. */
  readonly load: (document: string | undefined) => Promise<LoadedConfig>
}

export function feedWork({ catalog, fetcher, used, loaded, load }: FeedWorkParts): FeedWork {
  const { sequence, made_on: madeOn, keys } = catalogRelease()
  return {
    builtIn: { sequence, madeOn },
    usedSequence: () => used().sequence,
    defaultUrl: () => loaded().feed.url,
    download: (url) => downloaded(url, fetcher, loaded().feed.url),
    verify(text) {
      if (Buffer.byteLength(text) > MAX_FEED_BYTES) throw invalid(`it is larger than ${MAX_FEED_BYTES} bytes`)
      const envelope = readEnvelope(text)
      const { document } = envelope
      return {
        sequence: document.sequence,
        madeOn: document.made_on,
        keyId: verifyFeed(envelope, [...keys, ...loaded().feed.keys]),
        digest: feedDigest(document),
        document: canonicalText(document),
      }
    },
    async preview(document) {
      let next: LoadedConfig
      try {
        next = await load(document)
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        return { changes: [], vectorChanges: [], priceChanges: [], lostModels: [], problems: error.problems }
      }
      const { catalog: after, problems } = await catalog.preview(next)
      return {
        ...effectsOf(catalog.current, after),
        changes: factChanges(loaded().facts, next.facts),
        problems,
      }
    },
  }
}

/** The address of torana.yaml may be private, as those of upstreams may. */
async function downloaded(
  url: string,
  fetcher: PictureFetcher,
  trusted: string | undefined,
): Promise<string> {
  try {
    const bytes = await fetcher.fetch(url, {
      trustedOrigin: trusted === undefined ? undefined : new URL(trusted).origin,
      timeoutMs: DOWNLOAD_MS,
      maxBytes: MAX_FEED_BYTES,
      accept: 'application/json',
      what: 'feed',
    })
    return new TextDecoder().decode(bytes)
  } catch (error) {
    throw new Fault(
      'catalog_feed_unreachable',
      `The catalogue feed at ${url} can't be fetched: ${reasonIn(error)}.`,
      {
        cause: error,
      },
    )
  }
}

function reasonIn(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
