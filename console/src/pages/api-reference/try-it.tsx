/** Sends the call with the person's own rights: to the control API as it is, to the gateway by the playground. */
import { Send } from 'lucide-react'
import { useState } from 'react'
import { tryCall, type TriedCall } from '../../api/try-call.ts'
import { duration } from '../../app/format.ts'
import { noteError } from '../../app/outages.ts'
import { usePayingProject } from '../../app/paying-project.ts'
import { paths } from '../../app/paths.ts'
import { useScope } from '../../app/scope.tsx'
import { useMay, useSession, type Permission } from '../../app/session.ts'
import { useAbort } from '../../ui/abort.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CONTROL, Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { SubmitButton } from '../../ui/field.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Select } from '../../ui/select.tsx'
import { Tick } from '../../ui/switch.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { addressOf, curlOf, exampleOf, type Document, type Operation } from './operations.ts'

/** Routes of the gateway that the playground runs. */
const PLAYED: Readonly<Record<string, `/api/v1/${string}`>> = {
  '/v1/embeddings': '/api/v1/playground/embeddings',
  '/v1/images/generations': '/api/v1/playground/images/generations',
  '/v1/images/edits': '/api/v1/playground/images/edits',
}

/** A stream never ends, and a file is not for a screen. */
const NOT_TRIED =
  /^\/api\/v1\/(?:events|backup|.*\/export|.*\/content|.*\/output|.*\/errors|session\/oidc.*)$/

interface TryItProps {
  readonly operation: Operation
  readonly document: Document
}

export function TryIt({ operation, document }: TryItProps) {
  const { install } = useSession()
  const may = useMay()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const json = operation.bodies.find(([type]) => type === 'application/json')
  const [body, setBody] = useState(() =>
    json === undefined ? undefined : JSON.stringify(exampleOf(json[1], document), null, 2),
  )
  const [isSure, setSure] = useState(false)
  const [answer, setAnswer] = useState<TriedCall>()
  const { names, project, setProject } = usePayingProject(useScope())
  const abort = useAbort()
  const say = words.apiReference
  const isGateway = operation.permission === undefined
  const played = isGateway ? PLAYED[operation.path] : undefined
  const address = addressOf(operation, values)
  const origin = isGateway ? install.gateway_url : window.location.origin
  const code = curlOf(operation, `${origin}${address}`, isGateway ? '$TORANA_KEY' : '$TORANA_TOKEN', body)
  const isWrite = operation.method !== 'GET' && played === undefined
  const why =
    isGateway && played === undefined
      ? say.onlyCurl
      : NOT_TRIED.test(operation.path)
        ? say.notHere
        : !isGateway && isPermission(operation.permission) && !may(operation.permission)
          ? say.forbidden(operation.permission)
          : isWrite && !isSure
            ? say.tickFirst
            : undefined
  const send = async (): Promise<void> => {
    setAnswer(undefined)
    const sent =
      body === undefined ? undefined : withProject(body, played === undefined ? undefined : project)
    const to = (played ?? address) as `/api/v1/${string}`
    const tried = await tryCall(operation.method, to, sent, abort.next())
    // A session that has ended, or a store that is unreachable, concerns the whole console.
    noteError(tried.fault)
    setAnswer(tried)
  }
  return (
    <section className="flex flex-col gap-3" aria-label={say.tryIt}>
      <h3 className="text-13 font-semibold">{say.tryIt}</h3>
      <Form onSubmit={send} className="flex flex-col gap-3">
        {operation.parameters
          .filter(({ in: where }) => where !== 'header')
          .map(({ name, in: where, required, schema }) => (
            <Field key={name} name={name} label={<code className="mono-12">{name}</code>}>
              {schema?.enum === undefined ? (
                <TextInput
                  required={required === true}
                  placeholder={where === 'path' ? `{${name}}` : placeholderOf(schema?.default)}
                  value={values[name] ?? ''}
                  onChange={(value) => setValues({ ...values, [name]: value })}
                />
              ) : (
                <Select
                  value={values[name] ?? ''}
                  placeholder={say.notSet}
                  options={schema.enum.map((value) => ({ value: String(value), label: String(value) }))}
                  onChange={(value) => setValues({ ...values, [name]: value })}
                />
              )}
            </Field>
          ))}
        {played !== undefined && (
          <Field name="project" label={words.embeddings.project}>
            <Select
              value={project ?? ''}
              placeholder={say.notSet}
              options={(names ?? []).map((value) => ({ value, label: value }))}
              onChange={setProject}
            />
          </Field>
        )}
        {body !== undefined && (
          <Field name="body" label={say.body}>
            <textarea
              aria-label={say.body}
              spellCheck={false}
              rows={Math.min(16, body.split('\n').length + 1)}
              value={body}
              className={`${CONTROL} mono-12 h-auto! py-2`}
              onChange={(event) => setBody(event.target.value)}
            />
          </Field>
        )}
        {isWrite && (
          <Tick checked={isSure} onChange={setSure}>
            {say.changes}
          </Tick>
        )}
        <FormProblem />
        <div className="flex flex-wrap items-center gap-2">
          <SubmitButton why={why} writes={isWrite} icon={<Send size={14} aria-hidden />}>
            {say.send}
          </SubmitButton>
          {played !== undefined && <span className="text-12 text-ink-3">{say.costs}</span>}
        </div>
      </Form>
      {answer !== undefined && <Answered answer={answer} isLinked={played !== undefined} />}
      <CodeBlock code={code} />
    </section>
  )
}

function Answered({ answer, isLinked }: { readonly answer: TriedCall; readonly isLinked: boolean }) {
  const { status, tookMs, requestId, text, isCut } = answer
  const say = words.apiReference
  return (
    <div className="flex flex-col gap-2" role="status">
      <p className="flex flex-wrap items-center gap-2 text-12 text-ink-2">
        <Tag tone={status < 300 ? 'good' : 'bad'}>{status}</Tag>
        {duration(tookMs)}
        {isLinked && requestId !== null && (
          <TextLink to={paths.request(requestId)}>{words.welcome.answers.waterfall}</TextLink>
        )}
        {isCut && <span>{say.cut}</span>}
      </p>
      {text !== '' && <CodeBlock code={text} />}
    </div>
  )
}

/** The node reads the project before all else. */
function withProject(body: string, project: string | undefined): string {
  if (project === undefined) return body
  return JSON.stringify({ project, ...(JSON.parse(body) as object) })
}

function placeholderOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isPermission(text: string | undefined): text is Permission {
  return text !== undefined && text !== 'anyone' && text !== 'signed-in'
}
