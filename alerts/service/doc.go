// Package service lists, makes, changes and removes the rules and channels of alerts for the
// API. It keeps the secrets of channels sealed, and must not send anything itself.
package service
