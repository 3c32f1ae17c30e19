package migrations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// makeBucket is ensureBucket. A bucket with replicas is read from its leader alone: another
// node may not have yet what this one has just written.
func makeBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig) error {
	err := ensureBucket(ctx, js, want)
	if err == nil && want.Replicas > 1 {
		err = readFromLeader(ctx, js, "KV_"+want.Bucket)
	}
	if err != nil {
		return fmt.Errorf("migrations: bucket %s: %w", want.Bucket, err)
	}
	return nil
}

func readFromLeader(ctx context.Context, js jetstream.JetStream, name string) error {
	stream, err := js.Stream(ctx, name)
	if err != nil || !stream.CachedInfo().Config.AllowDirect {
		return err
	}
	changed := stream.CachedInfo().Config
	changed.AllowDirect = false
	if _, err := js.UpdateStream(ctx, changed); err != nil {
		return fmt.Errorf("let its leader alone answer: %w", err)
	}
	return nil
}

// bucketConfigs are all buckets of the namespace.
func bucketConfigs(cfg LogConfig) []jetstream.KeyValueConfig {
	bucket := func(name, description string, age time.Duration, bytes int64) jetstream.KeyValueConfig {
		return jetstream.KeyValueConfig{
			Bucket: name, Description: "Errata: " + description, History: 1,
			TTL: age, MaxBytes: bytes, Storage: jetstream.FileStorage, Replicas: cfg.Replicas,
		}
	}
	return []jetstream.KeyValueConfig{
		keysConfig(cfg),
		bucket(ImportsBucket(cfg.Namespace), "old error files that were imported, by the hash of their bytes", 0, importsMaxBytes),
		bucket(RequestsBucket(cfg.Namespace), "answers to requests with an Idempotency-Key, sealed with the caller's key", requestsAge, requestsMaxBytes),
		bucket(ChallengesBucket(cfg.Namespace), "sign-in codes under way, hashed with a secret that is not here, and rate limits", challengesAge, challengesMaxBytes),
		bucket(EnrolmentsBucket(cfg.Namespace), "authenticator apps of accounts, encrypted with a secret that is not here", 0, enrolmentsMaxBytes),
		bucket(AlertsBucket(cfg.Namespace), "how far each rule of alerts is told", 0, alertsMaxBytes),
		bucket(DeliveriesBucket(cfg.Namespace), "messages on their way to channels, and those that have ended", deliveriesAge, deliveriesMaxBytes),
		bucket(FamiliarBucket(cfg.Namespace), "places and addresses that accounts have signed in from, made from the log; accounts by a hash", familiarAge, familiarMaxBytes),
	}
}

// clusterConfig is the bucket that is made last: when it is there, all others are.
func clusterConfig(cfg LogConfig) jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket: ClusterBucket(cfg.Namespace), Description: "Errata: what all nodes of a cluster must know, sealed with its secret",
		History: 1, MaxBytes: clusterMaxBytes, Storage: jetstream.FileStorage, Replicas: cfg.Replicas,
	}
}

func keysConfig(cfg LogConfig) jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{
		Bucket:      KeysBucket(cfg.Namespace),
		Description: "Errata: API keys, by their id; no secret of theirs, only its hash. And the key that users are hashed with",
		History:     keysHistory,
		MaxBytes:    keysMaxBytes,
		Storage:     jetstream.FileStorage,
		Replicas:    cfg.Replicas,
	}
}

func ensureBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig) error {
	_, err := js.KeyValue(ctx, want.Bucket)
	if err == nil {
		return checkBucket(ctx, js, want)
	}
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return err
	}
	if _, err = js.CreateKeyValue(ctx, want); errors.Is(err, jetstream.ErrBucketExists) {
		return checkBucket(ctx, js, want)
	}
	return err
}

// checkBucket updates an existing bucket: its history, and its room and replicas
// unless an operator has set more. Its storage cannot be changed.
func checkBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig) error {
	stream, err := js.Stream(ctx, "KV_"+want.Bucket)
	if err != nil {
		return err
	}
	have := stream.CachedInfo().Config
	if have.Storage != want.Storage {
		return fmt.Errorf("it is there and cannot be used: storage is %v and must be %v", have.Storage, want.Storage)
	}
	if have.MaxMsgsPerSubject == int64(want.History) && have.MaxBytes >= want.MaxBytes && have.Replicas >= want.Replicas {
		return nil
	}
	want.MaxBytes, want.Replicas = max(want.MaxBytes, have.MaxBytes), max(want.Replicas, have.Replicas)
	if _, err = js.UpdateKeyValue(ctx, want); err != nil {
		return fmt.Errorf("change its room to %d bytes, its replicas to %d and its history to %d: %w", want.MaxBytes, want.Replicas, want.History, err)
	}
	return nil
}
