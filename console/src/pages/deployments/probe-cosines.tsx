/** The cosine of each text and image of the latest check. */
import type { SpaceProbe } from '../../api/queries/spaces.ts'
import { cosine } from '../../app/format.ts'
import { DRIFT_LIMITS } from '../../charts/drift/drift-layout.ts'
import { Section } from '../../ui/page.tsx'
import { MARK_TEXT, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

export function ProbeCosines({ look }: { readonly look: SpaceProbe }) {
  const say = words.deployments.drift.byProbe
  const { cosines } = look
  if (cosines === null) return null
  const texts = cosines.slice(0, say.texts.length)
  const images = cosines.slice(say.texts.length)
  return (
    <Section title={images.length > 0 ? say.titleWithImages : say.title}>
      <dl className="grid grid-cols-4 gap-x-8 text-12 tight:grid-cols-2 phone:grid-cols-1">
        {texts.map((value, index) => (
          <Probe key={index} label={say.texts[index]} value={value} limits={DRIFT_LIMITS.cosine} />
        ))}
        {images.map((value, index) => (
          <Probe key={index} label={say.images[index]} value={value} limits={DRIFT_LIMITS.images} />
        ))}
      </dl>
    </Section>
  )
}

interface ProbeProps {
  readonly label: string | undefined
  readonly value: number
  readonly limits: { readonly warned: number; readonly quarantined: number }
}

function Probe({ label, value, limits: { warned, quarantined } }: ProbeProps) {
  const mark: Mark = value < quarantined ? 'odd' : value < warned ? 'warn' : 'good'
  return (
    <div className="flex h-7 items-center justify-between gap-2.5 border-b border-line">
      <dt className="text-ink-2">{label}</dt>
      <dd className={`font-strong tabular-nums ${MARK_TEXT[mark]}`}>{cosine(value, 7)}</dd>
    </div>
  )
}
