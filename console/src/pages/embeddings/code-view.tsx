/** The same call with one's own SDK, with the texts as typed. */
import { useSearch } from '@tanstack/react-router'
import { useChangeSearch } from '../../app/range-control.tsx'
import { useSession } from '../../app/session.ts'
import { SDK_NAMES } from '../../parts/snippets/snippet.ts'
import { sdksFor, snippet } from '../../parts/snippets/snippets.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import type { ViewProps } from './map-view.tsx'

export function CodeView({ run, look }: ViewProps) {
  const { sdk } = useSearch({ from: '/shell/playground/embeddings' })
  const change = useChangeSearch()
  const { install } = useSession()
  const say = words.embeddings.code
  const offered = sdksFor('embedding')
  const chosen = offered.find((one) => one === sdk) ?? 'python'
  const code = snippet(chosen, {
    kind: 'embedding',
    model: run.asked.model,
    baseUrl: `${install.gateway_url.replace(/\/$/, '')}/v1`,
    space: run.space,
    texts: run.typed.texts,
  })
  const width = look.widths[look.at]
  return (
    <div className="flex max-w-220 flex-col gap-3 px-5 py-3.5 phone:px-4">
      <Segmented
        label={say.sdk}
        value={chosen}
        className="max-w-full self-start overflow-x-auto"
        segments={offered.map((value) => ({ value, label: SDK_NAMES[value] }))}
        onChange={(value) => change({ sdk: value }, { replace: true })}
      />
      <CodeBlock code={code.trimEnd()} copied={code} />
      <p className="text-12 text-ink-2">
        {say.texts} {run.asked.inputType !== undefined && say.inputType(run.asked.inputType)}{' '}
        {width !== undefined && width < run.width && say.dimensions(width)}
      </p>
    </div>
  )
}
