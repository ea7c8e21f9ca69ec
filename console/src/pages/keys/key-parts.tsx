/** What the page of one key is made of. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { keyQueries } from '../../api/queries/keys.ts'
import { useWrite } from '../../api/write.ts'
import { dayWithYear, moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Budget } from '../../parts/terms/shown.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { TextLink } from '../../ui/link.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { Notes, type Key } from './columns.tsx'
import { formOf } from './key-form.ts'

export function KeyTerms({ of }: { readonly of: Key }) {
  const { facts, everything, everywhere, yaml, managed } = words.keys.detail
  const nowMs = useNow()
  const time = (at: string | null): string => (at === null ? words.keys.never : moment(at, nowMs))
  const limits = limitParts(of.limits)
  return (
    <div className="flex max-w-180 flex-col gap-6 px-6 py-5 text-13 phone:px-4">
      {of.notes.length > 0 && <Notes keyRow={of} />}
      <Facts
        labelWidth={120}
        facts={[
          [facts.project, of.project],
          [facts.models, of.models?.join(', ') ?? words.keys.all],
          [facts.limits, limits.length === 0 ? words.keys.none : limits.join(', ')],
          [facts.budget, <Budget key="budget" of={of} />],
          [facts.ends, of.expires_at === null ? words.keys.never : dayWithYear(of.expires_at, 'UTC')],
          [
            facts.scopes,
            of.scopes?.map((scope) => words.keys.form.scopeNames[scope]).join(', ') ?? everything,
          ],
          [facts.calls, of.max_calls_at_once === null ? words.keys.none : whole(of.max_calls_at_once)],
          [facts.addresses, of.addresses?.join(', ') ?? everywhere],
          [facts.created, of.created_at === null ? '–' : moment(of.created_at, nowMs)],
          [facts.firstUsed, time(of.first_used_at)],
          [facts.lastUsed, time(of.last_used_at)],
        ]}
      />
      {of.managed_at !== null && of.managed_at !== 'environment' && (
        <section className="flex flex-col gap-2">
          <p className="text-ink-2">{managed(of.managed_at)}</p>
          <CodeBlock title={`${yaml}: ${of.managed_at}`} code={yamlOf(of)} />
        </section>
      )}
    </div>
  )
}

function limitParts({
  requests_per_minute: requests,
  tokens_per_minute: tokens,
  images_per_minute: images,
}: Key['limits']) {
  const { form } = words.keys
  return [
    requests !== undefined && `${whole(requests)} ${form.requests}`,
    tokens !== undefined && `${whole(tokens)} ${form.tokens}`,
    images !== undefined && `${whole(images)} ${form.pictures}`,
  ].filter((part) => part !== false)
}

/** The lines to change, without the secret. */
function yamlOf(key: Key): string {
  const { name, models, requests, tokens, usd, per, hard, ends } = formOf(key)
  const limits = [
    requests !== null && `requestsPerMinute: ${requests}`,
    tokens !== null && `tokensPerMinute: ${tokens}`,
  ].filter((one) => one !== false)
  return [
    'projects:',
    `  ${key.project}:`,
    '    keys:',
    `      - name: ${name}`,
    '        secret: ${…}',
    ...(models.length === 0 ? [] : [`        models: [${models.join(', ')}]`]),
    ...(limits.length === 0 ? [] : [`        limits: { ${limits.join(', ')} }`]),
    ...(usd === '' ? [] : [`        budget: { usd: ${usd}, per: ${per}, hard: ${hard} }`]),
    ...(ends === '' ? [] : [`        expires: ${ends}`]),
  ].join('\n')
}

export function KeySecrets({ of }: { readonly of: Key }) {
  const say = words.keys.detail
  const nowMs = useNow()
  const may = useMay()
  const end = useWrite('delete', '/api/v1/keys/{project}/{name}/previous')
  const { project, name } = of
  const isRotating = of.secrets.some((one) => one.valid_until !== null)
  const endNow = (): void =>
    end.now({ params: { path: { project, name } } }, () => toast(words.keys.rotate.ended(of.id)))
  return (
    <Section title={say.secrets}>
      <ul className="flex flex-col gap-1.5 text-12">
        {of.secrets.map((secret) => (
          <li key={secret.tail} className="flex items-center gap-2">
            <span className="mono-12">{secret.tail}</span>
            <span className="text-ink-3">
              {secret.valid_until === null ? say.current : say.until(moment(secret.valid_until, nowMs))}
            </span>
          </li>
        ))}
      </ul>
      {isRotating && may('keys.write', project) && (
        <Button size="small" className="mt-2 self-start" busy={end.busy} onClick={endNow}>
          {words.keys.rotate.endNow}
        </Button>
      )}
    </Section>
  )
}

export function KeyHistory({ of }: { readonly of: Key }) {
  const may = useMay()
  const isAllowed = may('audit.read')
  const { data } = useInfiniteQuery({ ...keyQueries.audit({ target: of.id }), enabled: isAllowed })
  const nowMs = useNow()
  if (!isAllowed) return null
  const entries = data?.pages.flatMap((page) => page.data) ?? []
  return (
    <Section title={words.keys.detail.history}>
      {entries.length === 0 && <p className="text-12 text-ink-3">{words.keys.detail.noHistory}</p>}
      <ul className="flex flex-col gap-1.5 text-12">
        {entries.slice(0, 10).map((entry) => (
          <li key={entry.sequence} className="flex flex-col">
            <TextLink to={paths.audit({ target: of.id, open: String(entry.sequence) })}>
              {words.audit.actions[entry.action] ?? entry.action}
            </TextLink>
            <span className="text-ink-3">
              {moment(entry.at, nowMs)} · {entry.actor}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
