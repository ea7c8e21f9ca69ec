/** One real call to this deployment alone, after showing what it can cost. */
import { useState } from 'react'
import { duration, moneyExact } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import type { Schema } from '../../api/client.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useWrite } from '../../api/write.ts'
import { FactList } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { TextLink } from '../../ui/link.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

/** A word costs next to nothing, a picture some cents. */
const USUAL_MOST = { embedding: '0.01', image: '0.10' } as const

export function TestDialog({ one, onClose }: { readonly one: Deployment; readonly onClose: () => void }) {
  const { testDialog } = words.deployments
  const isUnpriced = one.price.some(({ unit }) => unit === 'unpriced')
  const [most, setMost] = useState<string>(isUnpriced ? '' : USUAL_MOST[one.kind])
  const [data, setData] = useState<Schema<'Tested'>>()
  const { send } = useWrite('post', '/api/v1/deployments/{id}/test', { touches: ['/api/v1/requests'] })
  const run = async (): Promise<void> => {
    const body = { max_usd: most.trim() === '' ? null : most.trim() }
    setData(await send({ params: { path: { id: one.id } }, body }))
  }
  return (
    <FormSheet
      shape="dialog"
      title={testDialog.title(nameOf(one))}
      description={one.kind === 'embedding' ? testDialog.embedding : testDialog.image}
      go={data === undefined ? testDialog.run : testDialog.again}
      onSubmit={run}
      onClose={onClose}
      keepsOpen
      cancel={words.ui.close}
    >
      <Field name="max_usd" label={testDialog.most} hint={testDialog.mostHint}>
        <TextInput value={most} onChange={setMost} before="$" inputMode="decimal" />
      </Field>
      {data !== undefined && (
        <div role="status" className="flex flex-col gap-3">
          <State mark={data.outcome === 'ok' ? 'good' : 'bad'}>
            {data.outcome === 'ok'
              ? testDialog.ok(duration(data.duration_ms))
              : testDialog.failed(data.outcome)}
          </State>
          {data.reason !== null && <p className="text-12 break-words text-ink-2">{data.reason}</p>}
          <FactList
            facts={[
              [testDialog.cost, data.cost_usd === null ? '–' : moneyExact(data.cost_usd)],
              ...(data.status === null ? [] : ([[testDialog.status, String(data.status)]] as const)),
              [
                testDialog.request,
                <TextLink key="request" to={paths.request(data.request_id)}>
                  {data.request_id}
                </TextLink>,
              ],
            ]}
          />
        </div>
      )}
    </FormSheet>
  )
}
