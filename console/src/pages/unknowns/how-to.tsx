import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function HowToFindOut() {
  const { how, steps } = words.unknowns
  return (
    <Section title={how}>
      <ol className="flex max-w-120 list-inside list-decimal flex-col gap-2 pt-1 text-ink-2">
        <li>
          {steps.lookBefore}
          <code className="mono-12 text-ink">x-torana-call-id</code>
          {steps.lookAfter}
        </li>
        <li>
          {steps.there} <strong className="font-semibold text-ink">{steps.post}</strong> {steps.thereAfter}{' '}
          <strong className="font-semibold text-ink">{steps.void}</strong>
          {steps.voidAfter.startsWith('，') ? '' : ' '}
          {steps.voidAfter}
        </li>
        <li>{steps.nobody}</li>
      </ol>
    </Section>
  )
}
