/** The table of providers in docs/upstreams.md. */
import { builtInFacts, type Facts, type ProviderFacts } from '#config/build/facts.ts'
import { withPart } from './part.ts'

/** The page with its table made again; everything else stays. */
export function withProviders(page: string, facts: Facts = builtInFacts()): string {
  const rows = [...facts.values()].filter(({ provider }) => provider !== 'demo').map(rowOf)
  const table = ['| `provider` | API | models | texts per call |', '|---|---|---|---|', ...rows].join('\n')
  return withPart(page, 'providers', table)
}

function rowOf(facts: ProviderFacts): string {
  const { provider, name, capabilities } = facts
  const models = Object.values(facts.models)
  const embedding = models.filter((model) => model.kind === 'embedding')
  const images = models.length - embedding.length
  const counts = [
    ...(embedding.length > 0 ? [`${embedding.length} embedding`] : []),
    ...(images > 0 ? [`${images} image`] : []),
  ]
  const inputs = embedding.flatMap((model) => model.capabilities?.maxInputs ?? capabilities.maxInputs ?? [])
  const range = [...new Set([Math.min(...inputs), Math.max(...inputs)])].join(' to ')
  const cells = [
    `\`${provider}\`: ${name}`,
    apiOf(facts),
    counts.join(', ') || 'those you declare',
    inputs.length > 0 ? range : (capabilities.maxInputs ?? '–'),
  ]
  return `| ${cells.join(' | ')} |`
}

function apiOf({ dialect, imageDialect = dialect }: ProviderFacts): string {
  const [main, images] = [dialect, imageDialect].map((one) => (one === 'ai-sdk' ? 'own' : 'OpenAI'))
  return main === images ? `${main}` : `${main}; images: ${images}`
}
