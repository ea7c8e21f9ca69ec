/** First steps: an admin, an upstream, a key with a budget, a call. Each can wait. */
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { peopleQueries } from '../../api/queries/people.ts'
import { paths } from '../../app/paths.ts'
import { useMay, useSession, useSessionState } from '../../app/session.ts'
import { Frame } from '../../app/shell.tsx'
import { DEMO, useModelsToCall } from '../../parts/snippets/model-to-call.ts'
import { ConnectUpstream } from '../../parts/connect-upstream/connect-upstream.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'
import { AdminForm } from './admin-form.tsx'
import { AnswersAlready } from './answers-already.tsx'
import { Bare } from './bare.tsx'
import { CallStep } from './call-step.tsx'
import { KeyStep, type MadeKey } from './key-step.tsx'
import { PlainHttp } from './sign-in-page.tsx'
import { Step } from './step.tsx'

export function WelcomePage() {
  const { data: session, isPending } = useSessionState()
  const { hash } = useLocation()
  const token = new URLSearchParams(hash).get('token')
  if (isPending) return null
  if (session === undefined) return <BecomeAdmin token={token ?? ''} />
  return (
    <Frame>
      <Steps />
    </Frame>
  )
}

function BecomeAdmin({ token }: { readonly token: string }) {
  const { data: options } = useQuery(peopleQueries.options())
  const say = words.welcome
  if (options !== undefined && (!options.first_run || token === ''))
    return (
      <Bare title={say.title} note={options.first_run ? say.signIn.nobody : say.admin.used}>
        <ButtonLink to={paths.signIn()} size="large" className="self-start">
          {say.invite.toSignIn}
        </ButtonLink>
      </Bare>
    )
  return (
    <Bare title={say.running} note={say.admin.title} foot={<PlainHttp />}>
      <AdminForm token={token} />
    </Bare>
  )
}

type OpenStep = 'upstream' | 'key' | undefined

function Steps() {
  const { member, install } = useSession()
  const may = useMay()
  const navigate = useNavigate()
  const [made, setMade] = useState<MadeKey>()
  const [open, setOpen] = useState<OpenStep>(install.only_demo ? 'upstream' : 'key')
  const [chosen, setChosen] = useState<string>()
  const [answered, setAnswered] = useState<string>()
  const models = useModelsToCall()
  const model = models.find(({ id }) => id === chosen) ?? models[0] ?? DEMO
  const isConnected = !install.only_demo
  const say = words.welcome
  // The token is used up. It must not stay in the address, nor in the history.
  const forgetToken = useEffectEvent(() => void navigate({ ...paths.welcome(), replace: true }))
  useEffect(() => forgetToken(), [])
  return (
    <Page title={say.title} side={<AnswersAlready secret={made?.secret} model={model} />} sideWidth={424}>
      <div className="flex max-w-203 flex-col gap-3 px-10 py-7 phone:px-4">
        <header className="pb-3">
          <h2 className="text-24 font-semibold">{say.running}</h2>
          <p className="text-[14px] leading-[22px] text-ink-2">{say.steps}</p>
        </header>
        <Step
          number={1}
          state="done"
          title={may('members.write') ? say.admin.done : say.admin.member}
          note={member ? say.admin.withPassword(member.name) : say.admin.token}
          aside={
            may('sign_on.write') && (
              <TextLink to={paths.settings('sign-on')} className="text-12">
                {say.admin.signOn}
              </TextLink>
            )
          }
        />
        <Step
          number={2}
          state={open === 'upstream' ? 'open' : isConnected ? 'done' : 'waiting'}
          title={isConnected ? say.upstream.done : say.upstream.title}
          aside={
            <>
              {say.upstream.or} <code className="mono-12">torana.yaml</code>
            </>
          }
          onOpen={() => setOpen('upstream')}
        >
          <ConnectUpstream onAdded={() => setOpen('key')} onSkip={() => setOpen('key')} />
        </Step>
        <Step
          number={3}
          state={open === 'key' ? 'open' : made === undefined ? 'waiting' : 'done'}
          isDone={made !== undefined}
          title={made === undefined ? say.key.title : say.key.done(made.id)}
          note={made === undefined ? say.key.note : undefined}
          onOpen={() => setOpen('key')}
        >
          <KeyStep made={made} onMade={setMade} />
        </Step>
        <Step
          number={4}
          state={made === undefined ? 'waiting' : 'open'}
          isDone={answered !== undefined}
          title={answered === undefined ? say.call.title : say.call.done(answered)}
          note={made === undefined ? say.call.waits : answered === undefined ? say.call.note : undefined}
        >
          {made !== undefined && (
            <CallStep
              made={made}
              models={models}
              model={model}
              onModel={setChosen}
              onAnswered={setAnswered}
            />
          )}
        </Step>
      </div>
    </Page>
  )
}
