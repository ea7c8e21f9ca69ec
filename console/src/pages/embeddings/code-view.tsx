/** The same call with one's own SDK, with the texts as typed. */
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { CONTENT_SDKS, TYPED_SDKS } from '../../parts/snippets/embedding-snippets.ts'
import { SdkCode, useBaseUrl } from '../../parts/snippets/sdk-code.tsx'
import { sdksFor, snippet } from '../../parts/snippets/snippets.ts'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { shortInputs } from './content-call.ts'
import type { ViewProps } from './map-view.tsx'
import { embeddings as place } from './place.ts'

const TYPES = ['float', 'float16', 'int8', 'binary'] as const

export function CodeView({ run }: ViewProps) {
  const { sdk, width, type } = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const baseUrl = useBaseUrl()
  const say = words.embeddings.code
  const isWithMedia = run.typed.inputs.some(({ media }) => media.length > 0)
  const offered = isWithMedia ? CONTENT_SDKS : sdksFor('embedding')
  const chosen = offered.find((one) => one === sdk) ?? 'python'
  const dimensions = width !== undefined && width < run.width ? width : undefined
  const isTyped = TYPED_SDKS.has(chosen)
  const code = snippet(chosen, {
    kind: 'embedding',
    model: run.request.model,
    baseUrl,
    // A narrower width or another type is another space.
    space: dimensions === undefined && type === undefined ? run.space : undefined,
    texts: run.typed.texts,
    contents: isWithMedia ? shortInputs(run.typed.inputs, run.files) : undefined,
    dimensions,
    outputType: type,
  })
  return (
    <div className="flex max-w-220 flex-col gap-3 px-5 py-3.5 phone:px-4">
      <div className="flex flex-wrap items-center gap-2.5 text-12">
        <code className="mono-12 text-ink-2">{say.type}</code>
        <Segmented
          label={say.type}
          value={type ?? 'float'}
          segments={TYPES.map((value) => ({ value, label: value }))}
          onChange={(value) => change({ type: value === 'float' ? undefined : value }, { replace: true })}
        />
      </div>
      <SdkCode
        label={say.sdk}
        offered={offered}
        chosen={chosen}
        onChoose={(value) => change({ sdk: value }, { replace: true })}
        code={code}
      />
      <p className="text-12 text-ink-2">
        {say.texts} {isWithMedia && words.embeddings.media.code}{' '}
        {run.request.inputType !== undefined && say.inputType(run.request.inputType)}{' '}
        {dimensions !== undefined && !isTyped && say.dimensions(dimensions)}{' '}
        {type !== undefined && !isTyped && say.outputType(type)} {type === 'int8' && say.int8}
        {type === 'binary' && say.binary}
      </p>
    </div>
  )
}
