/** The catalogue as a feed: the document of this release, and the facts of one that was pulled. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  FEED_FORMAT,
  invalid,
  MAX_FEED_MODELS,
  readDocument,
  type FeedDocument,
} from '#core/feed/document.ts'
import { CATALOG_FOLDER } from '#package/files.ts'
import { ConfigError, plainReport } from '../file/problem.ts'
import { parseSource } from '../file/yaml.ts'
import { builtInFacts, catalogFiles, factsOfSources, type Facts, type ProviderFacts } from './facts.ts'

/** The sequence and the day of the built-in catalogue. `npm run generate` raises them when a fact changes. */
export interface CatalogRelease {
  readonly sequence: number
  readonly made_on: string
  /** SHA-256 of its providers. */
  readonly digest: string
  /** Public keys that sign feeds of the project. */
  readonly keys: readonly string[]
}

const RELEASE_FILE = join(CATALOG_FOLDER, 'release.json')

let release: CatalogRelease | undefined

/** Read once, like the facts. */
export function catalogRelease(): CatalogRelease {
  release ??= JSON.parse(readFileSync(RELEASE_FILE, 'utf8')) as CatalogRelease
  return release
}

/** The built-in catalogue as a document. */
export function releaseDocument({
  sequence,
  made_on,
}: Pick<CatalogRelease, 'sequence' | 'made_on'>): FeedDocument {
  const providers = catalogFiles().map(({ name, text }) => [
    basename(name, '.yaml'),
    parseSource(name, text).data,
  ])
  return { format: FEED_FORMAT, sequence, made_on, providers: Object.fromEntries(providers) }
}

/** The facts of the text of a stored document. Undefined: the built-in ones. */
export function factsFor(documentText: string | undefined): Facts {
  return documentText === undefined ? builtInFacts() : factsOfFeed(readDocument(JSON.parse(documentText)))
}

/** Problems of a feed in one message. */
const MAX_SHOWN_PROBLEMS = 5

/**
 * Where calls go, and by which wire, comes with the program alone: a feed could lead credentials to another host. Throws a fault
 * with the first problems.
 */
export function factsOfFeed({ providers }: FeedDocument, program: Facts = builtInFacts()): Facts {
  if (providers['demo'] !== undefined) throw invalid('demo is the provider of the models inside the program')
  const facts = factsIn(providers)
  const models = [...facts.values()].reduce((sum, one) => sum + Object.keys(one.models).length, 0)
  if (models > MAX_FEED_MODELS)
    throw invalid(`it has ${models} models, and a feed may have ${MAX_FEED_MODELS}`)
  return new Map([...facts].map(([id, provider]) => [id, withAddressOf(program.get(id), provider)]))
}

function factsIn(providers: FeedDocument['providers']): Facts {
  try {
    return factsOfSources(
      Object.entries(providers).map(([expected, data]) => ({
        data,
        report: plainReport('feed'),
        expected,
        prefix: `${expected}: `,
        isInterpolated: () => false,
      })),
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw invalid(error.problems.slice(0, MAX_SHOWN_PROBLEMS).join('; '))
  }
}

/** A provider that the program does not know has no address: an operator writes it. */
function withAddressOf(known: ProviderFacts | undefined, provider: ProviderFacts): ProviderFacts {
  const { baseUrl: _, imageDialect: __, ...facts } = provider
  const { dialect, imageDialect, baseUrl } = known ?? { dialect: provider.dialect }
  return {
    ...facts,
    dialect,
    ...(imageDialect !== undefined && { imageDialect }),
    ...(baseUrl !== undefined && { baseUrl }),
  }
}
