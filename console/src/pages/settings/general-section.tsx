import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { useOpened } from '../../app/change-search.ts'
import { chooseLanguage, language, LANGUAGES, type Language } from '../../app/language.ts'
import { useMay, useSession } from '../../app/session.ts'
import { chooseTheme, useThemeChoice, type ThemeChoice } from '../../app/theme.ts'
import { switchZone, useZone } from '../../time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Problem } from '../../ui/problem.tsx'
import { NewPasswordInput, SecretInput } from '../../ui/secret-input.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { settings as place } from './place.ts'
import { SettingRow, SettingRows } from './rows.tsx'

const THEMES: readonly ThemeChoice[] = ['light', 'dark', 'system']

export function GeneralSection() {
  const may = useMay()
  const { member } = useSession()
  return (
    <div className="flex flex-col gap-8 px-6 py-6 phone:px-4">
      {may('settings.read') && <Install />}
      <Browser />
      {member !== null && <Account email={member.email} />}
    </div>
  )
}

function Install() {
  const { data, error, refetch } = useQuery(peopleQueries.settings())
  const say = words.people.general
  if (error !== null) return <Problem error={error} retry={() => void refetch()} className="px-0 py-0" />
  const address = (url: string | undefined) =>
    url !== undefined && (
      <>
        <code className="mono-12">{url}</code>
        <CopyIconButton text={url} />
      </>
    )
  return (
    <SettingRows title={say.install}>
      <SettingRow label={say.name} hint={say.nameHint}>
        {data?.install.name ?? <span className="text-ink-3">–</span>}
      </SettingRow>
      <SettingRow label={say.publicUrl} hint={say.publicHint}>
        {address(data && `${data.install.public_url}/v1`)}
      </SettingRow>
      <SettingRow label={say.consoleUrl} hint={say.consoleHint}>
        {address(data?.install.console_url)}
      </SettingRow>
      <SettingRow label={say.configFile}>
        {data?.config_file == null ? (
          <span className="text-ink-3">{data && say.noFile}</span>
        ) : (
          <code className="mono-12">{data.config_file}</code>
        )}
      </SettingRow>
    </SettingRows>
  )
}

function Browser() {
  const theme = useThemeChoice()
  const zone = useZone()
  const say = words.people.general
  return (
    <SettingRows title={say.browser}>
      <SettingRow label={say.theme}>
        <Segmented
          label={say.theme}
          value={theme}
          segments={THEMES.map((value) => ({ value, label: words.shell.themes[value] }))}
          onChange={chooseTheme}
        />
      </SettingRow>
      <SettingRow label={say.language}>
        <Segmented
          label={say.language}
          value={language}
          segments={(Object.keys(LANGUAGES) as Language[]).map((value) => ({
            value,
            label: LANGUAGES[value],
          }))}
          onChange={chooseLanguage}
        />
      </SettingRow>
      <SettingRow label={say.zone} hint={say.zoneHint}>
        <Segmented
          label={say.zone}
          value={zone}
          segments={[
            { value: 'utc', label: say.utc },
            { value: 'local', label: say.local },
          ]}
          onChange={(next) => next !== zone && switchZone()}
        />
      </SettingRow>
    </SettingRows>
  )
}

function Account({ email }: { readonly email: string }) {
  const [isOpen, setOpen] = useOpened('password', place.useSearch().password)
  const say = words.people.general
  return (
    <SettingRows title={say.account}>
      <SettingRow label={email}>
        <Button onClick={() => setOpen(true)}>{say.changePassword}</Button>
        {isOpen && <PasswordDialog onClose={() => setOpen(false)} />}
      </SettingRow>
    </SettingRows>
  )
}

function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const { send } = useWrite('put', '/api/v1/session/password')
  const say = words.people.general
  const save = async (): Promise<void> => {
    await send({ body: { current, password } })
    toast(say.changed)
  }
  return (
    <FormSheet shape="dialog" title={say.changePassword} go={say.save} onSubmit={save} onClose={onClose}>
      <Field name="current" label={say.current}>
        <SecretInput required autoComplete="current-password" value={current} onChange={setCurrent} />
      </Field>
      <Field name="password" label={say.next} hint={words.welcome.passwordHint}>
        <NewPasswordInput value={password} onChange={setPassword} />
      </Field>
    </FormSheet>
  )
}
