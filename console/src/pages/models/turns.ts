/** Who is asked in which turn, in words. */
import type { Schema } from '../../api/client.ts'
import { whole } from '../../app/format.ts'
import { words } from '../../words/words.ts'

type Model = Pick<Schema<'ModelDetail'>, 'tiers'>
export type Turn = Schema<'ModelDetail'>['tiers'][number][number]

/** `tier 1 · weight 2` · `tier 2`. */
export function turnText({ tiers }: Model, deployment: string): string {
  const at = tiers.findIndex((tier) => tier.some((one) => one.deployment === deployment))
  const tier = tiers[at]
  if (tier === undefined) return ''
  const { detail } = words.models
  const turn = detail.turn(at + 1)
  const weight = tier.find((one) => one.deployment === deployment)?.weight ?? 1
  return tier.length > 1 ? `${turn} · ${detail.weight(weight)}` : turn
}

/** `500,000 tokens/min`. */
export function limitTexts({ limits }: Turn): readonly string[] {
  const { detail } = words.models
  const perMinute = (amount: number | undefined, what: string): string[] =>
    amount === undefined ? [] : [detail.perMinute(whole(amount), what)]
  return [
    ...perMinute(limits.requests_per_minute, detail.requests),
    ...perMinute(limits.tokens_per_minute, detail.tokens),
    ...perMinute(limits.images_per_minute, detail.images),
    ...(limits.concurrency === undefined ? [] : [detail.atOnce(limits.concurrency)]),
  ]
}

/** The name of the upstream in a deployment's id: what people call it by. */
export function upstreamIn(
  { deployments }: Pick<Schema<'ModelDetail'>, 'deployments'>,
  deployment: string,
): string {
  return deployments.find(({ id }) => id === deployment)?.upstream ?? deployment
}
