"""New packs: the starter, and drafts from lists of tools.

    new        a pack as the bytes of its files
    identity   what a new pack is called, checked
    layers     the starter's files, laid together
    starter/   those files, as they are
    given/     lists of tools as others write them: OpenAI, MCP, OpenAPI
    subset/    their schemas, brought into the subset that packs are written in
    samples/   arguments that satisfy a schema
    draft/     a pack from a list of tools, and what it lacks
    writing    a folder that appears in one step

Nothing of a pack is run here.
"""
