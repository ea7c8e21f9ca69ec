/** Webhooks of projects in torana.yaml. */
import type { ConfiguredWebhook } from '#core/catalog/webhook.ts'
import type { Path, Report } from '../file/problem.ts'

interface WebhookEntry {
  readonly url: string
  readonly secret: string
  readonly events?: readonly string[] | undefined
  readonly private: boolean
}

export function buildWebhooks(
  entries: readonly WebhookEntry[],
  path: Path,
  report: Report,
): readonly ConfiguredWebhook[] {
  const urls = new Set<string>()
  return entries.map(({ url, secret, events, private: isPrivate }, index) => {
    if (urls.has(url)) report.problem([...path, index, 'url'], 'is there twice: keep one')
    urls.add(url)
    return { url, secret, events, isPrivate }
  })
}
