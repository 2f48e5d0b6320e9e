import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Account, api, unwrap } from '../../api/client'
import { ColorChoice } from '../../components/ColorChoice'
import { AccountName } from '../../components/network'
import { type Utm, UtmFields } from '../../components/Utm'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** The setting with the budget for reading metrics where the network charges for it. */
const metricReads = 'metric_reads_per_month'

/** Edits an account's label, color and UTM parameters. */
export function EditAccount({ account: a, close }: { account: Account; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `account ${a.id}`
  const [label, setLabel] = useFormState(form, 'label', a.label ?? '')
  const [color, setColor] = useFormState(form, 'color', a.color ?? '')
  const [utm, setUtm] = useFormState<Utm>(form, 'utm', a.utm ?? {})
  const [reads, setReads] = useFormState<number | string>(
    form,
    'reads',
    a.settings[metricReads] ? Number(a.settings[metricReads]) : '',
  )
  const settings = a.network === 'x' ? { settings: { [metricReads]: String(reads) } } : {}
  const save = useAct({
    send: () =>
      unwrap(
        api.PATCH('/api/v1/accounts/{id}', {
          params: { path: { id: a.id } },
          body: { label, color, utm, ...settings },
        }),
      ),
    accepted: () => {
      forget(form)
      void client.invalidateQueries({ queryKey: ['accounts'] })
      close()
    },
    done: () => t('act.saved', { name: label || a.handle }),
  })
  return (
    <FormDialog form={form} opened onClose={close} title={t('accounts.edit')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="md">
          <AccountName network={a.network} handle={a.handle} />
          <TextInput
            label={t('accounts.label')}
            description={t('accounts.labelText')}
            placeholder={a.name || a.handle}
            maxLength={80}
            value={label}
            onChange={(e) => setLabel(e.currentTarget.value)}
            data-autofocus
          />
          <ColorChoice label={t('accounts.color')} value={color} onChange={setColor} clearable />
          {a.network === 'x' && (
            <NumberInput
              label={t('accounts.metricReads')}
              description={t('accounts.metricReadsText')}
              placeholder={t('accounts.metricReadsOff')}
              min={1}
              max={1_000_000_000}
              allowDecimal={false}
              value={reads}
              onChange={setReads}
            />
          )}
          <UtmFields label={t('utm.ofAccount')} value={utm} change={setUtm} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </FormDialog>
  )
}
