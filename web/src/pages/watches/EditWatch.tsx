import { Alert, Button, NumberInput, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, ifMatchHeader, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import type { Watch } from '.'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Creates or edits a watch. */
export function EditWatch({ watch, close }: { watch?: Watch; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `watch ${watch?.id ?? ''}`
  const [name, setName] = useFormState(form, 'name', watch?.name ?? '')
  const [url, setURL] = useFormState(form, 'url', watch?.url ?? '')
  const [selector, setSelector] = useFormState(form, 'selector', watch?.selector ?? '')
  const [interval, setMinutes] = useFormState(form, 'interval', watch?.interval_minutes ?? 60)
  const body = { name, url, selector, interval_minutes: interval }
  const save = useAct({
    send: () =>
      unwrap(
        watch
          ? api.PATCH('/api/v1/watches/{id}', {
              params: { path: { id: watch.id }, header: ifMatchHeader(watch.version) },
              body,
            })
          : api.POST('/api/v1/watches', { params: { header: idempotencyHeader() }, body }),
      ),
    accepted: () => {
      forget(form)
      close()
    },
    settled: () => void client.invalidateQueries({ queryKey: ['watches'] }),
    done: () => t('watches.saved', { name }),
    failed: false,
  })
  return (
    <FormDialog form={form} opened onClose={close} title={t(watch ? 'watches.edit' : 'watches.new')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack>
          <TextInput
            label={t('watches.name')}
            required
            maxLength={200}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            data-autofocus
          />
          <TextInput
            label={t('watches.url')}
            type="url"
            required
            maxLength={2000}
            placeholder="https://"
            value={url}
            onChange={(e) => setURL(e.currentTarget.value)}
          />
          <TextInput
            label={t('watches.selector')}
            description={t('watches.selectorText')}
            maxLength={500}
            value={selector}
            onChange={(e) => setSelector(e.currentTarget.value)}
          />
          <NumberInput
            label={t('watches.interval')}
            required
            min={5}
            max={10080}
            value={interval}
            onChange={(v) => setMinutes(Number(v))}
          />
          {save.error && (
            <Alert color="red" role="alert">
              {errorText(save.error)}
            </Alert>
          )}
          <Button type="submit" loading={save.isPending}>
            {t('save')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
