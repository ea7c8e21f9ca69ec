/** What a replay costs at most, then what it sends; sent, both requests stand side by side. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { requestQueries, type ReplayPreview, type RequestDetail } from '../../api/queries/requests.ts'
import { useWrite } from '../../api/write.ts'
import { bytes, clock, day, moneyExact } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'

interface ReplaySheetProps {
  readonly request: RequestDetail
  readonly onClose: () => void
}

export function ReplaySheet({ request, onClose }: ReplaySheetProps) {
  const { id } = request
  const preview = useQuery(requestQueries.replay(id))
  const replay = useWrite('post', '/api/v1/requests/{id}/replay', { touches: ['/api/v1/budgets'] })
  const navigate = useNavigate()
  const say = words.replay
  const { data } = preview
  const send = async (): Promise<void> => {
    const sent = await replay.send({ params: { path: { id } } })
    await navigate(paths.request(id, { replay: sent.id }))
  }
  return (
    <FormSheet
      title={say.title}
      note={say.note}
      go={say.go(data === undefined ? undefined : costText(data))}
      why={data === undefined ? say.counting : data.possible ? undefined : (data.text ?? undefined)}
      onSubmit={send}
      onClose={onClose}
    >
      {preview.isError && <Problem error={preview.error} retry={() => void preview.refetch()} />}
      {preview.isPending && <LoadingRows />}
      {data && <Preview preview={data} />}
    </FormSheet>
  )
}

function costText({ cost, refusal }: ReplayPreview): string | undefined {
  if (refusal !== null) return moneyExact('0')
  return cost?.max_usd == null ? undefined : moneyExact(cost.max_usd)
}

function Preview({ preview }: { readonly preview: ReplayPreview }) {
  const { cost, refusal, project, sends, expires_at: expires } = preview
  const say = words.replay
  return (
    <>
      <section className="flex flex-col gap-1 rounded-control bg-sunken px-3.5 py-3">
        <p className="text-12 text-ink-3">{say.atMost}</p>
        <p className="text-20 font-strong tabular-nums">{costText(preview) ?? words.ui.unpriced}</p>
        <p className="text-12 text-ink-2">
          {refusal === null ? say.billedTo(project ?? '') : say.refused(refusal.status, refusal.code)}
        </p>
        {refusal !== null && <p className="text-12 break-words text-ink-2">{refusal.message}</p>}
      </section>
      {sends && (
        <section className="flex flex-col gap-2">
          <h3 className="text-13 font-semibold">{say.sends}</h3>
          <CodeBlock code={readable(sends.body)} copied={sends.body} className="max-h-72 overflow-y-auto" />
          <Facts
            facts={[
              [say.size, bytes(sends.bytes)],
              ...Object.entries(sends.headers).map(([name, value]) => [name, value] as const),
              ...(cost === null
                ? []
                : [[say.deployments, cost.deployments.map((one) => one.id).join(', ')] as const]),
              ...(expires === null ? [] : [[say.expires, `${day(expires)} ${clock(expires)}`] as const]),
            ]}
            labelWidth={130}
          />
        </section>
      )}
    </>
  )
}

/** With a line for each field. The beginning of a large body stays as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
