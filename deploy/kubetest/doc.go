// Package kubetest renders what deploy/helm and deploy/kustomize make for Kubernetes, and
// checks what operators rely on. It is a module of its own, so that the types of Kubernetes
// are no part of Errata's. The programs that render come from `make charts`.
package kubetest
