/** The same call with one's own SDK, with the texts as typed. */
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { SdkCode, useBaseUrl } from '../../parts/snippets/sdk-code.tsx'
import { sdksFor, snippet } from '../../parts/snippets/snippets.ts'
import { words } from '../../words/words.ts'
import type { ViewProps } from './map-view.tsx'
import { embeddings as place } from './place.ts'

export function CodeView({ run, widthView }: ViewProps) {
  const { sdk } = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const baseUrl = useBaseUrl()
  const say = words.embeddings.code
  const offered = sdksFor('embedding')
  const chosen = offered.find((one) => one === sdk) ?? 'python'
  const code = snippet(chosen, {
    kind: 'embedding',
    model: run.request.model,
    baseUrl,
    space: run.space,
    texts: run.typed.texts,
  })
  const width = widthView.widths[widthView.at]
  return (
    <div className="flex max-w-220 flex-col gap-3 px-5 py-3.5 phone:px-4">
      <SdkCode
        label={say.sdk}
        offered={offered}
        chosen={chosen}
        onChoose={(value) => change({ sdk: value }, { replace: true })}
        code={code}
      />
      <p className="text-12 text-ink-2">
        {say.texts} {run.request.inputType !== undefined && say.inputType(run.request.inputType)}{' '}
        {width !== undefined && width < run.width && say.dimensions(width)}
      </p>
    </div>
  )
}
