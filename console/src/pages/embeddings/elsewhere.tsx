/** What the same tokens would cost with other models, by their prices of today. */
import type { Schema } from '../../api/client.ts'
import { moneyExact } from '../../app/format.ts'
import { words } from '../../words/words.ts'
import { costOf } from './cost.ts'
import { takenBy } from './taken-media.ts'
import type { Run } from './run.ts'

const SHOWN = 5

export function Elsewhere({
  run,
  models,
}: {
  readonly run: Run
  readonly models: readonly Schema<'ModelRow'>[]
}) {
  const { elsewhere, free, unpriced } = words.embeddings
  const others = models.filter(({ id, retired }) => id !== run.request.model && retired === null)
  const isWithImages = run.typed.inputs.some(({ media }) => media.length > 0)
  if (others.length === 0) return null
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-13 font-semibold">{elsewhere.title}</h2>
      <dl className="flex flex-col gap-1.5 text-12">
        {others.slice(0, SHOWN).map((model) => {
          const { id, price } = model
          // Tokens of images differ from model to model.
          const cost = isWithImages ? null : costOf(run.tokens, price)
          return (
            <div key={id} className="flex gap-3">
              <dt className="min-w-0 flex-1 truncate text-ink-2" title={id}>
                {id}
              </dt>
              <dd className="tabular-nums">
                {isWithImages && takenBy(model) === undefined
                  ? words.embeddings.media.takesNone
                  : isWithImages
                    ? words.embeddings.media.takesImages
                    : price[0]?.unit === 'free'
                      ? free
                      : cost === null
                        ? unpriced
                        : moneyExact(cost)}
              </dd>
            </div>
          )
        })}
      </dl>
      <p className="text-12 text-ink-3">
        {others.length > SHOWN && `${elsewhere.more(others.length - SHOWN)}. `}
        {elsewhere.note}
      </p>
    </section>
  )
}
