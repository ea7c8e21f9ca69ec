/** One request beside the list: enough to decide whether to open it. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Maximize2, SquareTerminal, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { requestQueries, type RequestDetail } from '../../api/queries/requests.ts'
import { duration, moneyInList, NONE, count, shortId } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { SmallWaterfall } from '../../charts/waterfall/waterfall.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyIconButton, useCopy } from '../../ui/copy.tsx'
import { Figures } from '../../ui/figures.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { TextLink } from '../../ui/link.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useSession } from '../../app/session.ts'
import { words } from '../../words/words.ts'
import { CallersError } from './callers-error.tsx'
import { writeCurl } from './curl.ts'
import { SmallMoneyTable } from './money-table.tsx'
import { OutcomeHead } from '../../parts/requests/outcome.tsx'
import { failureNote, findingOf, layoutOf, nameOf } from './waterfall-words.ts'
import { Forgotten } from './forgotten.tsx'

interface PeekProps {
  readonly id: string
  readonly onClose: () => void
}

export function Peek({ id, onClose }: PeekProps) {
  const found = useQuery(requestQueries.one(id))
  const navigate = useNavigate()
  useKeys({
    Escape: () => {
      onClose()
      return true
    },
    Enter: () => void navigate(paths.request(id)),
  })
  const { data } = found
  const detail = data?.log === 'kept' ? data : undefined
  return (
    <section aria-label={shortId(id)} className="flex min-h-full flex-col">
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-5">
        <span className="font-semibold whitespace-nowrap">
          {detail ? <OutcomeHead row={detail} /> : null}
        </span>
        <span className="mono-12 truncate text-ink-2">{shortId(id)}</span>
        <span data-copy-id>
          <CopyIconButton text={id} />
        </span>
        <span className="ml-auto flex items-center gap-1.5">
          <span className="flex gap-1.5 tight:hidden">
            <Kbd>J</Kbd>
            <Kbd>K</Kbd>
          </span>
          <IconButton label={words.requests.open} onClick={() => void navigate(paths.request(id))}>
            <Maximize2 size={14} aria-hidden />
          </IconButton>
          <IconButton label={words.ui.close} onClick={onClose}>
            <X size={15} aria-hidden />
          </IconButton>
        </span>
      </header>
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <LoadingRows />}
      {data?.log === 'deleted' && <Forgotten request={data} />}
      {detail && <PeekBody request={detail} />}
    </section>
  )
}

function PeekBody({ request }: { readonly request: RequestDetail }) {
  const text = words.requests
  const layout = layoutOf(request)
  const { inputs, hits } = request
  return (
    <div className="flex flex-col gap-4 px-5 py-3.5">
      <Figures
        size="peek"
        figures={[
          { name: text.took, value: exactMs(request.duration_ms) },
          { name: text.byTorana, value: exactMs(request.own_ms) },
          { name: text.calls, value: request.attempts.length },
          {
            name: text.fromCache,
            value: hits === null || inputs === null ? NONE : text.ofInputs(count(hits), count(inputs)),
          },
          { name: text.cost, value: request.unpriced ? words.ui.unpriced : moneyInList(request.cost_usd) },
        ]}
      />
      <CallersError request={request} />
      <SmallWaterfall layout={layout} nameOf={nameOf} noteOf={failureNote} finding={findingOf(request)} />
      <SmallMoneyTable request={request} />
      <Facts labelWidth={60} facts={peekFacts(request)} />
      <div className="pt-1">
        <CopyCurl request={request} />
      </div>
    </div>
  )
}

/** `258.9 ms`: here one decimal more than in the list. */
export function exactMs(ms: number): string {
  return ms >= 9.95 && ms < 1000 ? `${ms.toFixed(1)} ms` : duration(ms)
}

function peekFacts(request: RequestDetail): readonly (readonly [string, ReactNode])[] {
  const { facts } = words.requests
  const { key, model, asked_model: asked, space, client_request_id: client, node } = request
  const rows: (readonly [string, ReactNode])[] = []
  const add = (name: string, value: ReactNode): void => void rows.push([name, value])
  if (key !== null) add(facts.key, <TextLink to={paths.key(key)}>{key}</TextLink>)
  if (model !== null)
    add(
      facts.model,
      <>
        <TextLink to={paths.model(model)}>{model}</TextLink>
        {asked !== null && asked !== model && <span className="text-ink-2"> {facts.askedForAs(asked)}</span>}
      </>,
    )
  if (space !== null) add(facts.space, <span className="mono-12">{space}</span>)
  if (client !== null) add(facts.client, <span className="mono-12 break-all">{client}</span>)
  if (node !== '') add(facts.node, node)
  return rows
}

export function CopyCurl({ request }: { readonly request: RequestDetail }) {
  const { isCopied, copy } = useCopy()
  const { install } = useSession()
  return (
    <Button
      icon={<SquareTerminal size={14} aria-hidden />}
      onClick={() => void copy(writeCurl(request, install.gateway_url))}
    >
      <span aria-live="polite">{isCopied ? words.ui.copied : words.requests.copyCurl}</span>
    </Button>
  )
}
