/** What is known of a batch beside its progress. */
import type { ReactNode } from 'react'
import { batchFileUrl, type BatchDetail } from '../../api/queries/batches.ts'
import { bytes, count, moment, NONE, shortId } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { modelOf } from './columns.tsx'
import { rangeOf } from './faults.tsx'

export function BatchSide({ batch }: { readonly batch: BatchDetail }) {
  const nowMs = useNow()
  const say = words.batches
  const { facts } = say
  const metadata = Object.entries(batch.metadata)
  return (
    <div className="flex flex-col gap-6 px-5 py-4">
      <Section
        title={facts.title}
        actions={
          <TextLink to={paths.requests({ client: batch.id, ...rangeOf(batch) })} className="text-12">
            {say.seeRequests}
          </TextLink>
        }
      >
        <Facts facts={factsOf(batch, nowMs)} labelWidth={92} />
      </Section>
      {metadata.length > 0 && (
        <Section title={say.metadata}>
          <Facts facts={metadata} labelWidth={92} />
        </Section>
      )}
    </div>
  )
}

function factsOf(batch: BatchDetail, nowMs: number): readonly (readonly [string, ReactNode])[] {
  const { facts } = words.batches
  const rows: (readonly [string, ReactNode])[] = []
  const add = (name: string, value: ReactNode): void => void rows.push([name, value])
  add(facts.project, batch.project)
  add(facts.key, <TextLink to={paths.key(batch.key)}>{batch.key}</TextLink>)
  if (batch.continued) add(facts.terms, words.batches.continued)
  add(facts.endpoint, <span className="mono-12">{batch.endpoint}</span>)
  add(facts.model, <Model batch={batch} />)
  if (batch.space !== null) add(facts.space, <span className="mono-12 break-all">{batch.space}</span>)
  if (batch.dropped_lines > 0) add(facts.dropped, count(batch.dropped_lines))
  add(facts.made, moment(batch.created_at, nowMs))
  add(facts.window, moment(batch.expires_at, nowMs))
  if (batch.ended_at !== null) add(facts.ended, moment(batch.ended_at, nowMs))
  if (batch.results_until !== null) add(facts.kept, moment(batch.results_until, nowMs))
  add(facts.input, <FileId id={batch.input_file} />)
  add(facts.output, <ResultFile batch={batch} half="output" />)
  add(facts.errors, <ResultFile batch={batch} half="errors" />)
  return rows
}

function Model({ batch }: { readonly batch: BatchDetail }) {
  if (batch.model === null) return modelOf(batch)
  return <TextLink to={paths.model(batch.model)}>{batch.model}</TextLink>
}

function FileId({ id }: { readonly id: string }) {
  return (
    <span className="inline-flex items-center gap-1">
      <span className="mono-12" title={id}>
        {shortId(id.replace(/^file-/, ''))}
      </span>
      <CopyIconButton text={id} />
    </span>
  )
}

function ResultFile({ batch, half }: { readonly batch: BatchDetail; readonly half: 'output' | 'errors' }) {
  const file = batch[half]
  if (file.bytes === 0)
    return <span className="text-ink-3">{batch.ended_at === null ? words.batches.none : NONE}</span>
  return (
    <span className="inline-flex items-center gap-1">
      <a href={batchFileUrl(batch.id, half)} download className="link">
        {bytes(file.bytes)}
      </a>
      <CopyIconButton text={file.id} />
    </span>
  )
}
