package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// What a case of files, uploads, batches and webhooks says beside what all cases say.
type batchQuestion struct {
	Work     string            `json:"work"`
	Lines    string            `json:"lines"`
	Endpoint string            `json:"endpoint"`
	Body     string            `json:"body"`
	Headers  map[string]string `json:"headers"`
	Secret   string            `json:"secret"`
}

type batchAnswer struct {
	Status      string   `json:"status,omitempty"`
	Counts      []int64  `json:"counts,omitempty"`
	Errors      []string `json:"errors,omitempty"`
	Output      string   `json:"output,omitempty"`
	Refused     string   `json:"refused,omitempty"`
	AfterCancel string   `json:"afterCancel,omitempty"`
	Made        []string `json:"made,omitempty"`
	Listed      []string `json:"listed,omitempty"`
	Content     string   `json:"content,omitempty"`
	Report      string   `json:"report,omitempty"`
}

const lookEvery = 200 * time.Millisecond

func useBatches(question question, line *answer) error {
	client := clientFor(question)
	ctx := context.Background()
	var outcome batchAnswer
	var err error
	switch question.Work {
	case "run":
		outcome, err = runBatch(ctx, client, question)
	case "cancel":
		outcome, err = cancelBatch(ctx, client, question)
	case "pages":
		outcome, err = listPages(ctx, client, question)
	case "parts":
		outcome, err = uploadParts(ctx, client, question)
	case "files":
		outcome, err = useFiles(ctx, client, question)
	case "missing":
		var batch *openai.Batch
		if batch, err = client.Batches.Get(ctx, "batch_missing"); err == nil {
			outcome.Report = string(batch.Status)
		}
	case "unwrap":
		outcome, err = unwrap(question)
	default:
		err = fmt.Errorf("nobody knows the work %s", question.Work)
	}
	line.batchAnswer = outcome
	return err
}

func runBatch(ctx context.Context, client openai.Client, question question) (batchAnswer, error) {
	file, err := uploaded(ctx, client, question.Lines)
	if err != nil {
		return batchAnswer{}, err
	}
	batch, err := created(ctx, client, file, question.Endpoint)
	if err != nil {
		return batchAnswer{}, err
	}
	return results(ctx, client, batch.ID)
}

func cancelBatch(ctx context.Context, client openai.Client, question question) (batchAnswer, error) {
	file, err := uploaded(ctx, client, question.Lines)
	if err != nil {
		return batchAnswer{}, err
	}
	batch, err := created(ctx, client, file, question.Endpoint)
	if err != nil {
		return batchAnswer{}, err
	}
	cancelled, err := client.Batches.Cancel(ctx, batch.ID)
	if err != nil {
		return batchAnswer{}, err
	}
	outcome, err := results(ctx, client, batch.ID)
	outcome.AfterCancel = string(cancelled.Status)
	return outcome, err
}

func listPages(ctx context.Context, client openai.Client, question question) (batchAnswer, error) {
	file, err := uploaded(ctx, client, question.Lines)
	if err != nil {
		return batchAnswer{}, err
	}
	var outcome batchAnswer
	for range 5 {
		batch, err := created(ctx, client, file, question.Endpoint)
		if err != nil {
			return outcome, err
		}
		outcome.Made = append(outcome.Made, batch.ID)
	}
	pages := client.Batches.ListAutoPaging(ctx, openai.BatchListParams{Limit: openai.Int(2)})
	for pages.Next() {
		outcome.Listed = append(outcome.Listed, pages.Current().ID)
	}
	return outcome, pages.Err()
}

func uploadParts(ctx context.Context, client openai.Client, question question) (batchAnswer, error) {
	lines := []byte(question.Lines)
	upload, err := client.Uploads.New(ctx, openai.UploadNewParams{
		Filename: "lines.jsonl",
		Purpose:  openai.FilePurposeBatch,
		Bytes:    int64(len(lines)),
		MimeType: "application/jsonl",
	})
	if err != nil {
		return batchAnswer{}, err
	}
	half := (len(lines) + 1) / 2
	var ids []string
	for _, piece := range [][]byte{lines[:half], lines[half:]} {
		part, err := client.Uploads.Parts.New(ctx, upload.ID, openai.UploadPartNewParams{Data: bytes.NewReader(piece)})
		if err != nil {
			return batchAnswer{}, err
		}
		ids = append(ids, part.ID)
	}
	sum := md5.Sum(lines)
	done, err := client.Uploads.Complete(ctx, upload.ID, openai.UploadCompleteParams{
		PartIDs: ids,
		Md5:     openai.String(hex.EncodeToString(sum[:])),
	})
	if err != nil {
		return batchAnswer{}, err
	}
	batch, err := created(ctx, client, done.File.ID, question.Endpoint)
	if err != nil {
		return batchAnswer{}, err
	}
	return results(ctx, client, batch.ID)
}

func useFiles(ctx context.Context, client openai.Client, question question) (batchAnswer, error) {
	id, err := uploaded(ctx, client, question.Lines)
	if err != nil {
		return batchAnswer{}, err
	}
	outcome := batchAnswer{Made: []string{id}}
	file, err := client.Files.Get(ctx, id)
	if err != nil {
		return outcome, err
	}
	if outcome.Content, err = textOf(ctx, client, id); err != nil {
		return outcome, err
	}
	pages := client.Files.ListAutoPaging(ctx, openai.FileListParams{Limit: openai.Int(2)})
	for pages.Next() {
		outcome.Listed = append(outcome.Listed, pages.Current().ID)
	}
	if err := pages.Err(); err != nil {
		return outcome, err
	}
	deleted, err := client.Files.Delete(ctx, id)
	if err != nil {
		return outcome, err
	}
	outcome.Report = fmt.Sprintf("%s %s %s %t", file.Filename, file.Purpose, file.Status, deleted.Deleted)
	return outcome, nil
}

func unwrap(question question) (batchAnswer, error) {
	client := openai.NewClient(option.WithAPIKey("unused"), option.WithWebhookSecret(question.Secret))
	headers := http.Header{}
	for name, value := range question.Headers {
		headers.Set(name, value)
	}
	event, err := client.Webhooks.Unwrap([]byte(question.Body), headers)
	if err != nil {
		return batchAnswer{}, err
	}
	return batchAnswer{Report: fmt.Sprintf("%s %s", event.Type, event.AsBatchCompleted().Data.ID)}, nil
}

func uploaded(ctx context.Context, client openai.Client, lines string) (string, error) {
	file, err := client.Files.New(ctx, openai.FileNewParams{
		File:    openai.File(strings.NewReader(lines), "lines.jsonl", "application/jsonl"),
		Purpose: openai.FilePurposeBatch,
	})
	if err != nil {
		return "", err
	}
	return file.ID, nil
}

func created(ctx context.Context, client openai.Client, fileID string, endpoint string) (*openai.Batch, error) {
	return client.Batches.New(ctx, openai.BatchNewParams{
		InputFileID:      fileID,
		Endpoint:         openai.BatchNewParamsEndpoint(endpoint),
		CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
	})
}

func results(ctx context.Context, client openai.Client, id string) (batchAnswer, error) {
	for {
		batch, err := client.Batches.Get(ctx, id)
		if err != nil {
			return batchAnswer{}, err
		}
		switch batch.Status {
		case "completed", "failed", "expired", "cancelled":
			return resultsOf(ctx, client, batch)
		}
		time.Sleep(lookEvery)
	}
}

func resultsOf(ctx context.Context, client openai.Client, batch *openai.Batch) (batchAnswer, error) {
	counts := batch.RequestCounts
	outcome := batchAnswer{
		Status: string(batch.Status),
		Counts: []int64{counts.Total, counts.Completed, counts.Failed},
	}
	for _, one := range batch.Errors.Data {
		outcome.Errors = append(outcome.Errors, fmt.Sprintf("%s %d", one.Code, one.Line))
	}
	var err error
	if outcome.Output, err = textOf(ctx, client, batch.OutputFileID); err != nil {
		return outcome, err
	}
	outcome.Refused, err = textOf(ctx, client, batch.ErrorFileID)
	return outcome, err
}

func textOf(ctx context.Context, client openai.Client, fileID string) (string, error) {
	if fileID == "" {
		return "", nil
	}
	response, err := client.Files.Content(ctx, fileID)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
