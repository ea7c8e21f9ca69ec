import { UpstreamFailure } from '#core/fault/failure.ts'
import { isRecord } from '#core/text/record.ts'

/** `[{ id }]`, or the same under a name. */
export function idsUnder(body: unknown, name: string, field: string): string[] {
  const list: unknown = Array.isArray(body) ? body : isRecord(body) ? body[name] : undefined
  if (!Array.isArray(list))
    throw new UpstreamFailure('broken', 'the answer is no list of models', { deployment: '' })
  return list.flatMap((item: unknown) => {
    const id = isRecord(item) ? item[field] : undefined
    return typeof id === 'string' ? [id] : []
  })
}
