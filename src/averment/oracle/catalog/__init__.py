"""The subset of JSON Schema that tools are declared in, and arguments checked against it.

schema       the keywords, the types, where references lead, and which schemas apply to one value together
definitions  what is wrong with a tool as declared
arguments    what is wrong with arguments, by the schema of their tool
defaults     arguments with the defaults that the schema declares
canonical    when two values are the same
projection   a tool as the model sees it
reasons      the code of everything that can be wrong
"""
