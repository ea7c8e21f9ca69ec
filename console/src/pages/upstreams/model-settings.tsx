/** What applies to every deployment of a model. On a narrow screen each setting is a line that opens a sheet. */
import { ChevronRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Routing } from '../../api/queries/routing.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { classes } from '../../ui/classes.ts'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import type { ModelEdit } from './model-edit.ts'
import { settingsOf, type Setting } from './settings.ts'
import { SettingControl } from './setting-controls.tsx'
import { SourceTag } from './source-tag.tsx'

const SettingSheet = lazyPart(async () => (await import('./setting-sheet.tsx')).SettingSheet)

interface ModelSettingsProps {
  readonly routing: Routing
  readonly edit: ModelEdit
}

export function ModelSettings({ routing, edit }: ModelSettingsProps) {
  const isPhone = usePhone()
  const say = words.routing.settings
  const settings = settingsOf(routing, edit)
  if (isPhone) return <SettingLines settings={settings} routing={routing} edit={edit} />
  return (
    <section aria-label={say.title} className="flex flex-col gap-2.5">
      <h3 className="flex items-center gap-2.5 text-13">
        <span className="font-semibold">{say.title}</span>
        <span className="text-12 text-ink-2">{say.note}</span>
        <SourceTag source={routing.source} path={['models', routing.model]} />
      </h3>
      <div data-compact="" className="grid grid-cols-4 gap-x-4 gap-y-3.5">
        {settings.map((setting) => (
          <SettingField key={setting.id} setting={setting}>
            <SettingControl setting={setting} routing={routing} edit={edit} />
          </SettingField>
        ))}
      </div>
    </section>
  )
}

function SettingField({ setting, children }: { readonly setting: Setting; readonly children: ReactNode }) {
  const { was, hint } = setting
  return (
    <div
      {...(was !== undefined && { 'data-changed': '' })}
      className={classes('flex min-w-0 flex-col gap-1', setting.isWide && 'col-span-2')}
    >
      <span className="text-12 font-medium text-ink-2">{setting.title}</span>
      {children}
      {was !== undefined ? (
        <span className="truncate text-11 text-accent">{words.routing.model.was(was)}</span>
      ) : (
        hint !== undefined && <span className="truncate text-11 text-ink-3">{hint}</span>
      )}
    </div>
  )
}

function SettingLines({
  settings,
  ...shared
}: ModelSettingsProps & { readonly settings: readonly Setting[] }) {
  const [open, setOpen] = useState<Setting['id']>()
  const say = words.routing.settings
  const opened = settings.find(({ id }) => id === open)
  return (
    <section aria-label={say.title}>
      <SourceTag source={shared.routing.source} path={['models', shared.routing.model]} />
      <ul>
        {settings.map((setting) => (
          <li key={setting.id} className="border-b border-line">
            <button
              type="button"
              disabled={shared.edit.locked !== undefined}
              className="flex min-h-11 w-full items-center gap-2 text-left disabled:text-ink-2"
              onClick={() => setOpen(setting.id)}
            >
              <span className="shrink-0 text-ink-2">{setting.title}</span>
              <span className="ml-auto min-w-0 truncate">
                {setting.was !== undefined && (
                  <span className="pr-2 text-12 text-accent">{words.routing.model.was(setting.was)}</span>
                )}
                <span className={setting.was === undefined ? '' : 'font-semibold text-accent'}>
                  {setting.text}
                </span>
              </span>
              <ChevronRight size={15} aria-hidden className="shrink-0 text-ink-3" />
            </button>
          </li>
        ))}
      </ul>
      {opened !== undefined && (
        <SettingSheet setting={opened} {...shared} onClose={() => setOpen(undefined)} />
      )}
    </section>
  )
}
