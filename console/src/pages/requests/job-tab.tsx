/** The job of an image request: its steps, the nodes that held it, and what it made. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { apiUrl } from '../../api/client.ts'
import { bytes, clockExact, dayWithYear, duration } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'

type Job = NonNullable<RequestDetail['job']>

export function JobTab({ request }: { readonly request: RequestDetail }) {
  const { job } = request
  const text = words.requests.job
  if (job === null) return <p className="py-3 text-ink-2">{text.none}</p>
  return (
    <div className="flex flex-col gap-5 py-3">
      <Steps job={job} />
      {job.holders.length > 0 && (
        <section>
          <h2 className="text-13 font-semibold">{text.holders}</h2>
          <ul className="mt-1">
            {job.holders.map(({ node, from }, index) => (
              <li key={from} className="flex h-8 items-center gap-4 border-b border-line">
                <span className="w-40">{node}</span>
                <span className="tabular-nums text-ink-2">{clockExact(from)}</span>
                {index > 0 && <span className="text-12 text-warn">{text.takeover}</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Pictures job={job} />
    </div>
  )
}

function Steps({ job }: { readonly job: Job }) {
  const text = words.requests.job
  const startMs = Date.parse(job.created_at)
  return (
    <section>
      <h2 className="text-13 font-semibold">{text.steps}</h2>
      <ol className="mt-1">
        {job.steps.map(({ name, at }, index) => (
          <li key={`${name} ${at}`} className="flex h-8 items-center gap-4 border-b border-line">
            <span
              aria-hidden
              className={classes(
                'size-2 rounded-full',
                index === job.steps.length - 1 && job.ended_at === null ? 'bg-accent' : 'bg-good-fill',
              )}
            />
            <span className="w-36">{text.names[name]}</span>
            <span className="w-28 tabular-nums text-ink-2">{clockExact(at)}</span>
            <span className="tabular-nums text-ink-2">
              +{duration(Math.max(0, Date.parse(at) - startMs))}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Pictures({ job }: { readonly job: Job }) {
  const text = words.requests.job
  if (job.pictures.length === 0) return null
  return (
    <section>
      <h2 className="text-13 font-semibold">{text.pictures}</h2>
      <div className="mt-2 flex flex-wrap gap-3">
        {job.pictures.map((picture, index) => (
          <a
            key={picture.asset}
            href={apiUrl(`/api/v1/assets/${picture.asset}/content`)}
            target="_blank"
            rel="noreferrer"
            className="w-52 text-12 text-ink-2"
          >
            <img
              src={apiUrl(`/api/v1/assets/${picture.asset}/content?width=416`)}
              alt={text.picture(index + 1)}
              loading="lazy"
              className="w-52 rounded-control border border-line bg-tag"
            />
            {picture.width}×{picture.height} {picture.format}, {bytes(picture.bytes)}
          </a>
        ))}
      </div>
      {job.expires_at !== null && (
        <p className="pt-2 text-12 text-ink-3">{text.expires(dayWithYear(job.expires_at))}</p>
      )}
    </section>
  )
}
