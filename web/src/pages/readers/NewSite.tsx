import { Alert, Button, Checkbox, Code, Radio, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { TrackerSnippet } from './Snippets'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Adds a site, and shows the code for its pages. */
export function NewSite({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = 'site'
  const [name, setName] = useFormState(form, 'name', '')
  const [domains, setDomains] = useFormState<string[]>(form, 'domains', [])
  const [uniques, setUniques] = useFormState<'hyperloglog' | 'set'>(form, 'uniques', 'hyperloglog')
  const [open, setOpen] = useFormState(form, 'open', false)
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/sites', {
          params: { header: idempotencyHeader() },
          body: { name, domains, unique_method: uniques, public_counts: open },
        }),
      ),
    accepted: () => {
      forget(form)
      void client.invalidateQueries({ queryKey: ['sites'] })
    },
    done: () => undefined,
    failed: false,
  })
  const made = make.data
  return (
    <FormDialog
      form={form}
      opened
      onClose={close}
      size="lg"
      title={made ? t('readers.added', { name: made.site.name }) : t('readers.newSite')}
    >
      {made ? (
        <Stack>
          <TrackerSnippet site={made.site} />
          {made.secret_key && (
            <Alert color="yellow" title={t('readers.secret')}>
              <Text size="sm" mb="xs">
                {t('readers.secretText')}
              </Text>
              <Code block>{made.secret_key}</Code>
            </Alert>
          )}
          <Button onClick={close}>{t('close')}</Button>
        </Stack>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault()
            make.mutate()
          }}
        >
          <Stack>
            <TextInput
              label={t('readers.name')}
              required
              maxLength={200}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              data-autofocus
            />
            <TagsInput
              label={t('readers.domains')}
              description={t('readers.domainsText')}
              placeholder="news.example"
              value={domains}
              onChange={setDomains}
            />
            <Radio.Group label={t('readers.uniques')} value={uniques} onChange={(v) => setUniques(v as typeof uniques)}>
              <Stack gap="xs" mt="xs">
                <Radio value="hyperloglog" label={t('readers.about')} />
                <Radio value="set" label={t('readers.exact')} />
              </Stack>
            </Radio.Group>
            <Checkbox label={t('readers.public')} checked={open} onChange={(e) => setOpen(e.currentTarget.checked)} />
            {make.error && (
              <Alert color="red" role="alert">
                {errorText(make.error)}
              </Alert>
            )}
            <Button type="submit" loading={make.isPending} disabled={name.trim() === ''}>
              {t('readers.create')}
            </Button>
          </Stack>
        </form>
      )}
    </FormDialog>
  )
}
