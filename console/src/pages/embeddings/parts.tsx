/** What one input with several parts is made of, and about how many tokens each part has. */
import { useState } from 'react'
import { whole } from '../../app/format.ts'
import { words } from '../../words/words.ts'
import { tokensAbout } from './cost.ts'
import { kindOfInput } from './content-lines.ts'
import type { Run } from './run.ts'
import { Thumbnail } from './thumbnail.tsx'

/** `at`: the input under the pointer. The last one with several parts stays in sight. */
export function Parts({ run, at }: { readonly run: Run; readonly at: number | undefined }) {
  const joined = run.typed.inputs.flatMap((input, index) => (kindOfInput(input) === 'joined' ? [index] : []))
  const [last, setLast] = useState<number>()
  if (at !== undefined && at !== last && joined.includes(at)) setLast(at)
  const index = last !== undefined && joined.includes(last) ? last : joined[0]
  const input = index === undefined ? undefined : run.typed.inputs[index]
  if (index === undefined || input === undefined) return null
  const say = words.embeddings.media
  const { text, media } = input
  const { text: ofTexts, ...others } = run.tokensByKind ?? {}
  const texts = run.typed.inputs.map((one) => one.text)
  const images = run.typed.inputs.reduce((sum, one) => sum + one.media.length, 0)
  const ofMedia = Object.values(others).reduce((sum, tokens) => sum + tokens, 0)
  const rows = [
    ...(text === ''
      ? []
      : [{ name: text, file: undefined, tokens: ofTexts && tokensAbout(text, texts, ofTexts) }]),
    ...media.map(({ id, name }) => ({
      name,
      file: run.files.get(id),
      tokens: ofMedia > 0 ? Math.round(ofMedia / images) : undefined,
    })),
  ]
  return (
    <section>
      <h2 className="pb-1 text-13 font-semibold">
        {say.partsOf((run.typed.lineOf[index] ?? 0) + 1, rows.length)}
      </h2>
      <ul>
        {rows.map(({ name, file, tokens }, place) => (
          <li key={place} className="flex items-center gap-2 border-b border-line py-1 text-12">
            <Thumbnail file={file} size={24} />
            <span className="min-w-0 flex-1 truncate" title={name}>
              {name}
            </span>
            {tokens !== undefined && (
              <span className="text-ink-2 tabular-nums">{say.aboutTokens(whole(tokens))}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
