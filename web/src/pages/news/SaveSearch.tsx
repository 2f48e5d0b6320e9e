import { Alert, Button, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, unwrap } from '../../api/client'
import { Feed } from '../../components/Feed'
import { LinkButton } from '../../components/links'
import { useAct } from '../../lib/act'
import { keptOf, type NewsSearch } from '../../lib/news'
import { errorText } from '../../lib/notify'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

/** Saves a search, for alerts about new articles and for its feeds. */
export function SaveSearch({ search, close }: { search: NewsSearch; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = 'saved search'
  const [name, setName] = useFormState(form, 'name', search.q?.trim() ?? '')
  const [alert, setAlert] = useFormState(form, 'alert', true)
  const keep = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/saved-searches', {
          params: { header: idempotencyHeader() },
          body: { name, alert, mode: search.mode ?? 'keyword', ...keptOf(search) },
        }),
      ),
    accepted: () => {
      forget(form)
      void client.invalidateQueries({ queryKey: ['saved-searches'] })
    },
    done: () => undefined,
    failed: false,
  })
  return (
    <FormDialog form={form} opened onClose={close} title={t('search.save')}>
      {keep.data ? (
        <Stack>
          <Text role="status">{t('search.isSaved', { name: keep.data.name })}</Text>
          <Feed id={keep.data.id} open={keep.data.feed} />
          <LinkButton to="/news/saved" variant="default">
            {t('news.saved')}
          </LinkButton>
        </Stack>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault()
            keep.mutate()
          }}
        >
          <Stack>
            <TextInput
              label={t('search.name')}
              required
              maxLength={200}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              data-autofocus
            />
            <Switch
              label={t('search.alert')}
              description={t('search.alertText')}
              checked={alert}
              onChange={(e) => setAlert(e.currentTarget.checked)}
            />
            {(search.since || search.from || search.to) && (
              <Text size="sm" c="dimmed">
                {t('search.noTimes')}
              </Text>
            )}
            {keep.error && (
              <Alert color="red" role="alert">
                {errorText(keep.error)}
              </Alert>
            )}
            <Button type="submit" loading={keep.isPending}>
              {t('search.keep')}
            </Button>
          </Stack>
        </form>
      )}
    </FormDialog>
  )
}
