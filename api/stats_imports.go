package api

import (
	"context"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"dateline/api/spec"
	"dateline/internal/audience/statsimport"
)

// StatsImportHandler imports statistics.
type StatsImportHandler struct{ Imports *statsimport.Service }

// importRoute receives files.
const importRoute = "/api/v1/sites/:id/imports"

// ListStatsImports lists the imported statistics of a site.
func (s *StatsImportHandler) ListStatsImports(
	ctx context.Context, r spec.ListStatsImportsRequestObject,
) (spec.ListStatsImportsResponseObject, error) {
	list, err := s.Imports.List(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	out := spec.ListStatsImports200JSONResponse{Imports: []spec.StatsImport{}, Running: []spec.RunningStatsImport{}}
	for _, i := range list {
		out.Imports = append(out.Imports, statsImportJSON(i))
	}
	running, err := s.Imports.Running(ctx, principal(ctx), r.Id)
	for _, i := range running {
		out.Running = append(out.Running, spec.RunningStatsImport{
			Id: i.ID, Source: spec.RunningStatsImportSource(i.Source), StartedAt: i.StartedAt,
			Progress: *progressJSON(i.Done, i.Total),
		})
	}
	return out, err
}

// ImportStats imports the statistics of another product.
func (s *StatsImportHandler) ImportStats(
	ctx context.Context, r spec.ImportStatsRequestObject,
) (spec.ImportStatsResponseObject, error) {
	i, err := s.Imports.Import(ctx, principal(ctx), r.Id, statsimport.Source(r.Params.Source), r.Body)
	return spec.ImportStats201JSONResponse(statsImportJSON(i)), err
}

// DeleteStatsImport deletes an import with all its rows, or cancels it.
func (s *StatsImportHandler) DeleteStatsImport(
	ctx context.Context, r spec.DeleteStatsImportRequestObject,
) (spec.DeleteStatsImportResponseObject, error) {
	return spec.DeleteStatsImport204Response{}, s.Imports.Delete(ctx, principal(ctx), r.Id, r.Import)
}

func statsImportJSON(i statsimport.Import) spec.StatsImport {
	return spec.StatsImport{
		Id: i.ID, Source: spec.StatsImportSource(i.Source),
		From: openapi_types.Date{Time: i.From.Time()}, To: openapi_types.Date{Time: i.To.Time()},
		Views: i.Views, CreatedAt: i.CreatedAt,
	}
}
