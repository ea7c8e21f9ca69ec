/** One setting of a model in a sheet, on a narrow screen. What is typed is pending at once. */
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { words } from '../../words/words.ts'
import { SettingControl, type SettingControlProps } from './setting-controls.tsx'

export function SettingSheet({ onClose, ...shared }: SettingControlProps & { readonly onClose: () => void }) {
  const { setting } = shared
  const say = words.routing
  return (
    <Sheet
      open
      onClose={onClose}
      title={setting.title}
      actions={
        <Button look="primary" size="large" onClick={onClose}>
          {say.settings.done}
        </Button>
      }
    >
      <div {...(setting.was !== undefined && { 'data-changed': '' })} className="flex flex-col gap-2">
        <SettingControl {...shared} />
        {setting.hint !== undefined && <p className="text-12 text-ink-3">{setting.hint}</p>}
        {setting.was !== undefined && <p className="text-12 text-accent">{say.model.was(setting.was)}</p>}
      </div>
    </Sheet>
  )
}
