/** Inputs with images: one line for each, texts to type in, images with what they look like, and parts that make one vector. */
import { Link2, Type, Unlink2, X } from 'lucide-react'
import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { whole } from '../../app/format.ts'
import { Mark } from '../../charts/vectors/mark.tsx'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import {
  inputOfLine,
  joinedAt,
  lineOfInput,
  linesOf,
  splitAt,
  typedIn,
  withLine,
  withoutPart,
  type LineInput,
} from './content-lines.ts'
import type { MediaFile } from './media-store.ts'
import { inputRefusal, type TakenMedia } from './taken-media.ts'
import type { TypedTexts } from './texts.ts'
import { Thumbnail } from './thumbnail.tsx'

const THUMBNAIL = 24

interface InputListProps {
  readonly value: string
  readonly typed: TypedTexts
  readonly files: ReadonlyMap<string, MediaFile>
  readonly taken: TakenMedia | undefined
  readonly onChange: (value: string) => void
  /** Files dropped on a line become parts of its input. */
  readonly onDrop: (files: readonly File[], line: number) => void
}

export function InputList(props: InputListProps) {
  const { value, typed, onChange } = props
  const box = useRef<HTMLOListElement>(null)
  const lines = linesOf(value)
  const focus = (line: number): void => {
    requestAnimationFrame(() =>
      box.current?.querySelector<HTMLElement>(`[data-line="${line}"] [data-first]`)?.focus(),
    )
  }
  const change = (next: string, line?: number): void => {
    onChange(next)
    if (line !== undefined) focus(line)
  }
  return (
    <div className="flex min-h-40 flex-1 flex-col overflow-y-auto rounded-control border border-line-strong bg-surface py-1 phone:max-h-[50vh]">
      <ol ref={box} aria-label={words.embeddings.inputs}>
        {lines.map((line, index) => (
          <Line
            key={index}
            {...props}
            index={index}
            input={inputOfLine(line)}
            isHead={line.trim().startsWith('#')}
            group={typed.heads.get(index)}
            onChange={change}
            onFocus={focus}
          />
        ))}
      </ol>
      <button
        type="button"
        className="min-h-7 flex-1 cursor-text pt-1 pl-13 text-left align-top text-12 text-ink-3"
        onClick={() => {
          const isOpen = lines.at(-1) === ''
          change(isOpen ? value : `${value}\n`, isOpen ? lines.length - 1 : lines.length)
        }}
      >
        <span className="block h-full">{words.embeddings.media.addText}</span>
      </button>
    </div>
  )
}

interface LineProps extends Omit<InputListProps, 'onChange'> {
  readonly index: number
  readonly input: LineInput
  readonly isHead: boolean
  readonly group: number | undefined
  readonly onChange: (value: string, focus?: number) => void
  readonly onFocus: (line: number) => void
}

function Line(props: LineProps) {
  const { index, input, isHead, group, value, files, taken, onDrop } = props
  const [isOver, setOver] = useState(false)
  const parts = input.media.length + (input.text === '' ? 0 : 1)
  const isJoined = input.media.length > 0 && parts > 1
  const refusal = isHead ? undefined : inputRefusal(input, files, taken)
  return (
    <li
      data-line={index}
      className={classes(
        'group relative flex gap-2 pr-2 pl-1 focus-within:bg-accent-tint',
        isOver && 'bg-accent-tint outline-2 -outline-offset-2 outline-accent',
      )}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        event.stopPropagation()
        setOver(false)
        onDrop([...event.dataTransfer.files], index)
      }}
    >
      <span className="w-6 shrink-0 text-right text-12 leading-[22px] text-ink-3 tabular-nums">
        {index + 1}
      </span>
      <span className="w-3 shrink-0 pt-1">{group !== undefined && <Mark group={group} />}</span>
      <div className={classes('min-w-0 flex-1', isJoined && 'my-0.5 border-l-2 border-accent pl-2')}>
        {(input.media.length === 0 || input.text !== '' || isJoined) && (
          <TextPart {...props} isJoined={isJoined} value={value} />
        )}
        {input.media.map(({ id, name }, part) => (
          <MediaPart key={id} {...props} name={name} file={files.get(id)} part={part} isJoined={isJoined} />
        ))}
        {refusal !== undefined && <p className="pb-1 text-12 text-bad">{refusal}</p>}
      </div>
    </li>
  )
}

function TextPart({
  index,
  input,
  isJoined,
  value,
  onChange,
  onFocus,
}: LineProps & { readonly isJoined: boolean }) {
  const typed = typedIn(linesOf(value)[index] ?? '')
  const replace = (text: string, ...more: readonly string[]): void =>
    onChange(
      withLine(value, index, lineOfInput({ ...input, text }), ...more),
      more.length > 0 ? index + more.length : undefined,
    )
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    const { selectionStart: at, value: text } = event.currentTarget
    const isEmptyLine = text === '' && input.media.length === 0
    if (event.nativeEvent.isComposing || event.metaKey || event.ctrlKey) return
    if (event.key === 'Enter') replace(text.slice(0, at ?? text.length), text.slice(at ?? text.length))
    else if (event.key === 'Backspace' && isEmptyLine && index > 0)
      onChange(withLine(value, index), index - 1)
    else if (event.key === 'ArrowUp' && !event.altKey) onFocus(index - 1)
    else if (event.key === 'ArrowDown' && !event.altKey) onFocus(index + 1)
    else return
    event.preventDefault()
  }
  return (
    <span className="flex items-center gap-1.5">
      {isJoined && <Type size={14} aria-hidden className="shrink-0 text-ink-3" />}
      <input
        data-first
        aria-label={words.embeddings.media.line(index + 1)}
        value={typed}
        spellCheck={false}
        className="h-[22px] w-full min-w-0 bg-transparent text-[12.5px] outline-none phone:h-8 phone:text-15"
        onChange={(event) => replace(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (!/[\r\n]/.test(pasted)) return
          event.preventDefault()
          const [first = '', ...more] = linesOf(pasted)
          replace(`${typed}${first}`, ...more)
        }}
      />
    </span>
  )
}

interface MediaPartProps extends LineProps {
  readonly name: string
  readonly file: MediaFile | undefined
  readonly part: number
  readonly isJoined: boolean
}

function MediaPart({
  index,
  part,
  name,
  file,
  isJoined,
  value,
  input,
  taken,
  onChange,
  onFocus,
}: MediaPartProps): ReactNode {
  const say = words.embeddings.media
  const split = (): void => onChange(splitAt(value, index, part), index + 1)
  const remove = (): void => onChange(withoutPart(value, index, part), Math.max(0, index - 1))
  const above = linesOf(value)[index - 1]
  const canJoin = !isJoined && taken?.fuses === true && above !== undefined && !/^\s*(?:#|$)/.test(above)
  const join = (): void => onChange(joinedAt(withLine(value, index), index - 1, input.media), index - 1)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return
    if (event.altKey && event.key === 'ArrowUp' && isJoined) split()
    else if (event.key === 'Enter')
      onChange(withLine(value, index, linesOf(value)[index] ?? '', ''), index + 1)
    else if (event.key === 'Backspace' || event.key === 'Delete') remove()
    else if (event.key === 'ArrowUp') onFocus(index - 1)
    else if (event.key === 'ArrowDown') onFocus(index + 1)
    else return
    event.preventDefault()
  }
  return (
    <span
      tabIndex={0}
      role="group"
      aria-label={name}
      {...(!isJoined && { 'data-first': true })}
      className="flex h-[30px] items-center gap-2 rounded-chip"
      onKeyDown={onKeyDown}
    >
      <Thumbnail file={file} size={THUMBNAIL} />
      <span className="min-w-0 flex-1 truncate text-[12.5px] phone:text-15" title={name}>
        {name}
      </span>
      {file?.width !== undefined && (
        <span className="text-11 text-ink-3 tabular-nums group-focus-within:hidden group-hover:hidden">
          {whole(file.width)} × {whole(file.height ?? 0)}
        </span>
      )}
      <span className="sr-only items-center group-focus-within:not-sr-only group-focus-within:flex group-hover:not-sr-only group-hover:flex phone:not-sr-only phone:flex">
        {isJoined && (
          <IconButton label={say.split} size="small" onClick={split}>
            <Unlink2 size={13} aria-hidden />
          </IconButton>
        )}
        {canJoin && (
          <IconButton label={say.join} size="small" onClick={join}>
            <Link2 size={13} aria-hidden />
          </IconButton>
        )}
        <IconButton label={say.remove(name)} size="small" onClick={remove}>
          <X size={13} aria-hidden />
        </IconButton>
      </span>
    </span>
  )
}
