/** What answers say of webhooks. */
import { z } from 'zod'

export const outcome = z.enum(['sent', 'given-up', 'waiting'])

/** The path of a webhook is a secret at many receivers, because knowing it is enough to post there. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return ''
  return parsed.pathname === '/' && parsed.search === '' ? parsed.origin : `${parsed.origin}/…`
}
